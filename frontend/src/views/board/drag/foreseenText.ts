// A preview in words: its outcome, and within what time.

import { span } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { Foreseen } from "@/store/edits/foreseen";
import { displayNameOf } from "@/store/live/displayNames";

const MOST_NAMES = 4;

/** Return the word for an outcome, with its tick or how far the copy ran without it. */
export function outcomeText({ outcome, tick, withinMs }: Foreseen): string {
  const state = t(outcome === "bound" ? "drop.bound" : "state.admitted");
  if (tick !== null) return t("drop.at", { state, tick });
  return t(outcome === "inactive" ? "state.inactive" : "drop.waits", { span: span(withinMs) });
}

/** Return who is admitted with a change alone, or that nobody is. */
export function admittedText({ admitted, withinMs }: Foreseen): string {
  const within = { span: span(withinMs) };
  if (admitted.length === 0) return t("drop.nobody", within);
  const names = admitted.slice(0, MOST_NAMES).map(displayNameOf).join(", ");
  const more = admitted.length - MOST_NAMES;
  const listed = more > 0 ? `${names} ${t("drop.moreVictims", { n: more })}` : names;
  return t("drop.admits", { ...within, n: admitted.length, names: listed });
}

/** One who is preempted on the way, perhaps more than once. */
export interface Preempted {
  readonly workload: string;
  readonly reasons: string;
  readonly times: number;
}

/** Return who is preempted, each once. */
export function preemptedIn({ victims }: Foreseen): Preempted[] {
  const workloads = [...new Set(victims.map((victim) => victim.workload))];
  return workloads.map((workload) => {
    const reasons = victims.flatMap((victim) => (victim.workload === workload ? [victim.reason] : []));
    return { workload, reasons: [...new Set(reasons)].join(", "), times: reasons.length };
  });
}

/** Return the outcome of a preview as a sentence. */
export function sentenceOf(foreseen: Foreseen): string {
  return foreseen.outcome === "ran" ? admittedText(foreseen) : outcomeText(foreseen);
}
