// What a change of a what-if is called in the words of the objects themselves: for one that was made elsewhere; pure.

import { t } from "@/lib/words.svelte";
import type { Json } from "@/net/rest";
import type { WhatIfChange } from "@/protocol/types";
import { changeText, merged, type Part } from "@/store/edits/changes";
import { releasesOf } from "@/store/rows/releases";

type Kind = keyof WhatIfChange; // each kind that REST takes: a new one does not compile without its words
type Given<Of extends Kind> = Extract<Part, Readonly<Record<Of, unknown>>>[Of];

const SAID: { readonly [Of in Kind]-?: (given: Given<Of>, before: Json | null) => string } = {
  patch: ({ name, body }, before) => [name, ...leaves(body, before)].join(" · "),
  apply: (manifest) => `+ ${text(manifest["kind"])} ${text((manifest["metadata"] as Json | undefined)?.["name"])}`,
  yaml: () => "YAML",
  delete: ({ kind, name }) => `− ${kind} ${name}`,
  policy: (patch, before) => ["Policy", ...leaves(patch, before)].join(" · "),
  release: (release) => t("top.release", { name: releasesOf(release).join(", ") }),
  move: ({ name, to }) => `${name} → ${to.name}`,
  pin: ({ name, node }) => `${name} → ${node === "" ? "–" : node}`,
  node: ({ name, change }) => `${name}: ${change}`,
  cluster: ({ name, change }) => `${name}: ${change}`,
};

/** Return what a change is called; with the document that it patches, as it was, what each value was too. */
export function describe(part: Part, before: Json | null = null): string {
  const [kind, given] = Object.entries(part)[0] as [Kind, never];
  return SAID[kind](given, before);
}

/** Return what changes are called, in their order; `documentOf` has what one patches as it was before them all, null where nothing is there. */
export async function describeAll(parts: readonly Part[], documentOf: (key: string) => Promise<Json | null>): Promise<string[]> {
  const keys = [...new Set(parts.map(patchedBy).filter((key) => key !== ""))];
  const known = new Map(await Promise.all(keys.map(async (key) => [key, await documentOf(key)] as const)));
  return parts.map((part) => {
    const key = patchedBy(part);
    const before = known.get(key) ?? null;
    if (before !== null) known.set(key, merged(before, "patch" in part ? part.patch.body : "policy" in part ? part.policy : {}));
    return describe(part, before);
  });
}

function patchedBy(part: Part): string {
  if ("policy" in part) return "Policy//policy";
  return "patch" in part ? `${part.patch.kind}/${part.patch.namespace}/${part.patch.name}` : "";
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const valueText = (value: unknown): string => (value === undefined || value === null ? "" : typeof value === "object" ? "…" : typeof value === "string" ? value : JSON.stringify(value));
function leaves(patch: Json, before: Json | null): string[] {
  const were = new Map(before === null ? [] : leavesOf(before));
  return leavesOf(patch).map(([path, value]) => {
    const name = path.replace(/^spec\./, "");
    return before === null ? `${name}: ${value === null ? "null" : valueText(value)}` : changeText(name, valueText(were.get(path)), valueText(value));
  });
}

/** Return each leaf of a merge patch: its path and what it is set to. */
export function leavesOf(patch: Json, head = ""): [string, unknown][] {
  return Object.entries(patch).flatMap(([name, value]) => {
    const path = head === "" ? name : `${head}.${name}`;
    const inner = typeof value === "object" && value !== null && !Array.isArray(value);
    return inner ? leavesOf(value as Json, path) : [[path, value]];
  });
}
