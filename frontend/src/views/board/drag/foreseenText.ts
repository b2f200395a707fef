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
  const more = admitted.length > MOST_NAMES ? ", …" : "";
  return t("drop.admits", { ...within, n: admitted.length, names: names + more });
}

/** Return the outcome of a preview as a sentence. */
export function sentenceOf(foreseen: Foreseen): string {
  return foreseen.outcome === "ran" ? admittedText(foreseen) : outcomeText(foreseen);
}
