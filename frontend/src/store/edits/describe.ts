// What a change of a what-if is called in the words of the objects themselves: for one that was made elsewhere; pure.

import { t } from "@/lib/words.svelte";
import type { Json } from "@/net/rest";
import type { WhatIfChange } from "@/protocol/types";
import type { Part } from "@/store/edits/changes";
import { releasesOf } from "@/store/rows/releases";

type Kind = keyof WhatIfChange; // each kind that REST takes: a new one does not compile without its words
type Given<Of extends Kind> = Extract<Part, Readonly<Record<Of, unknown>>>[Of];

const SAID: { readonly [Of in Kind]-?: (given: Given<Of>) => string } = {
  patch: ({ name, body }) => [name, ...leaves(body)].join(" · "),
  apply: (manifest) => `+ ${text(manifest["kind"])} ${text((manifest["metadata"] as Json | undefined)?.["name"])}`,
  yaml: () => "YAML",
  delete: ({ kind, name }) => `− ${kind} ${name}`,
  policy: (patch) => ["Policy", ...leaves(patch)].join(" · "),
  release: (release) => t("top.release", { name: releasesOf(release).join(", ") }),
  move: ({ name, to }) => `${name} → ${to.name}`,
  pin: ({ name, node }) => `${name} → ${node === "" ? "–" : node}`,
  node: ({ name, change }) => `${name}: ${change}`,
  cluster: ({ name, change }) => `${name}: ${change}`,
};

/** Return what a change is called. */
export function describe(part: Part): string {
  const [kind, given] = Object.entries(part)[0] as [Kind, never];
  return SAID[kind](given);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const leaves = (patch: Json): string[] => leavesOf(patch).map(([path, value]) => `${path.replace(/^spec\./, "")}: ${Array.isArray(value) ? "…" : String(value)}`);

/** Return each leaf of a merge patch: its path and what it is set to. */
export function leavesOf(patch: Json, head = ""): [string, unknown][] {
  return Object.entries(patch).flatMap(([name, value]) => {
    const path = head === "" ? name : `${head}.${name}`;
    const inner = typeof value === "object" && value !== null && !Array.isArray(value);
    return inner ? leavesOf(value as Json, path) : [[path, value]];
  });
}
