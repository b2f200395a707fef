// A preview in words: its outcome, and within what time.

import { span } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { Foreseen } from "@/store/edits/foreseen";

/** Return the word for an outcome, with its tick or how far the copy ran without it. */
export function outcomeText({ outcome, tick, withinMs }: Foreseen): string {
  const state = t(outcome === "bound" ? "drop.bound" : "state.admitted");
  if (tick !== null) return t("drop.at", { state, tick });
  return t(outcome === "inactive" ? "state.inactive" : "drop.waits", { span: span(withinMs) });
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
  return foreseen.outcome === "ran" ? foreseen.effects.join(" ") : outcomeText(foreseen);
}
