// Fair sharing in Kueue's Configuration, as one choice; pure.

import type { Word } from "@/lib/words.svelte";
import type { Json } from "@/net/rest";
import { at } from "@/store/policy/paths";

export type FairSharing = "classical" | "both" | "final" | "initial";

const FINAL = "LessThanOrEqualToFinalShare";
const INITIAL = "LessThanInitialShare";
// Kueue allows these lists and no other order; an empty list means both there.
const STRATEGIES = { both: [FINAL, INITIAL], final: [FINAL], initial: [INITIAL] } as const;

/** The choices, in the words of the page. */
export const FAIR_WORDS: Readonly<Record<FairSharing, Word>> = {
  classical: "fair.classical",
  both: "fair.both",
  final: "fair.final",
  initial: "fair.initial",
};

/** Return what a policy document says. v1beta1 turns it on by `enable`, later versions by its being there. */
export function fairSharingOf(document: unknown): FairSharing {
  const section = at(document, "spec.kueue.fairSharing");
  if (typeof section !== "object" || section === null) return "classical";
  if (isFirst(document) && (section as Json)["enable"] !== true) return "classical";
  const given = (section as Json)["preemptionStrategies"];
  if (!Array.isArray(given) || given.length !== 1) return "both";
  return given[0] === INITIAL ? "initial" : "final";
}

/** Return the merge patch of the spec that makes a choice. */
export function fairSharingPatch(document: unknown, choice: FairSharing): Json {
  if (choice === "classical") return { kueue: { fairSharing: null } };
  const on = isFirst(document) ? { enable: true } : {};
  return { kueue: { fairSharing: { ...on, preemptionStrategies: STRATEGIES[choice] } } };
}

function isFirst(document: unknown): boolean {
  return String(at(document, "spec.kueue.apiVersion")).endsWith("/v1beta1");
}
