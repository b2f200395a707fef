// Values inside a document by dotted paths; pure.

import type { Json } from "@/net/rest";

/** Return a value inside a document by its dotted path. */
export function at(document: unknown, path: string): unknown {
  let value: unknown = document;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Json)[part];
  }
  return value;
}

/** Return a patch that sets one dotted path. */
export function patchAt(path: string, value: unknown): Json {
  const [first = "", ...rest] = path.split(".");
  return { [first]: rest.length === 0 ? value : patchAt(rest.join("."), value) };
}
