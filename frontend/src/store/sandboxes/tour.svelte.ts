// Where the first-run tour is: from the start page to a what-if in two actions. Its stops come with its mark.

import { go, hrefOf } from "@/lib/address.svelte";
import { keep, kept } from "@/lib/keep";
import { live } from "@/store/live/live.svelte";

class Tour {
  /** Which step is on, from 0; null: no tour. */
  at = $state<number | null>(null);
  /** The demo of the first step was opened: the tour goes along. */
  taken = false;
  /** It is drawn, and still runs to the time that it is shown at. */
  fills = $state(false);
}

export const tour = new Tour();

/** Offer the tour to who is here for the first time. */
export function offerTour(): void {
  if (kept("tour") === null && tour.at === null) tour.at = 0;
}

/** Begin again, from the start page or on the board of the open sandbox. */
export function startTour(): void {
  tour.taken = live.id !== null;
  if (live.id !== null) go(hrefOf(live.id, "board"));
  tour.at = live.id === null ? 0 : 1;
}

/** End it, and do not offer it again. */
export function endTour(): void {
  tour.at = null;
  keep("tour", "seen");
}
