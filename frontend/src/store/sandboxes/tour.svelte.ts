// The first-run tour: from the start page to a what-if answer in five steps.

import { keep, kept } from "@/lib/keep";
import type { Word } from "@/lib/words.svelte";
import type { WorkloadRow } from "@/protocol/types";
import { setSpeed, stepUntilWaiting } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

export interface TourStop {
  readonly word: Word;
  /** What the mark points at: selectors, of which the first that is there counts. */
  readonly at: () => readonly string[];
  /** A button that does the step. */
  readonly act?: { readonly word: Word; readonly run: () => void };
  readonly done: () => boolean;
}

const FAST = 20; // ticks a second, until somebody has to wait

const there = (selector: string): boolean => document.querySelector(selector) !== null;
const waiting = (): readonly WorkloadRow[] => live.latest.all("Workload").filter((row) => row.phase === "inadmissible" || (row.phase === "pending" && row.message !== ""));

// The one to ask about: who should come first, and does not get in.
const urgent = (): string[] => {
  const [first] = waiting().toSorted((a, b) => b.priority - a.priority);
  return first === undefined ? [] : [`[data-card="${CSS.escape(first.key)}"]`];
};

const stands = (): boolean => live.latest.sandbox?.playing === false;
let running = false;

async function run(): Promise<void> {
  running = false;
  await setSpeed(FAST);
  await stepUntilWaiting();
  running = true;
}

export const STOPS: readonly TourStop[] = [
  { word: "tour.open", at: () => ["[data-tour=play]"], done: () => live.loaded },
  {
    word: "tour.run",
    at: () => [".transport"],
    act: { word: "tour.runAct", run: () => void run() },
    done: () => stands() && waiting().length > 0,
  },
  { word: "tour.pick", at: () => [...urgent(), ".card.inadmissible", ".card.evicted", ".card.pending"], done: () => there("[data-tour=ask]") },
  { word: "tour.ask", at: () => ["[data-tour=ask]"], done: () => there("[data-tour=show]") },
  { word: "tour.show", at: () => ["[data-tour=show]"], done: () => there("[data-testid=verdict]") },
];

class Tour {
  /** Which step is on, from 0; the length of STOPS is the closing word; null: no tour. */
  at = $state<number | null>(null);
}

export const tour = new Tour();
let taken = false;

/** Offer the tour to who is here for the first time. */
export function offerTour(): void {
  if (kept("tour") === null && tour.at === null) tour.at = 0;
}

/** The demo of the first step was opened: the tour goes along. */
export function takeTour(): void {
  taken = true;
}

/** Begin again, from the start page or from the open sandbox. */
export function startTour(): void {
  taken = live.id !== null;
  running = false;
  tour.at = live.id === null ? 0 : 1;
}

/** End it, and do not offer it again. */
export function endTour(): void {
  tour.at = null;
  keep("tour", "seen");
}

/** Go on when the step that is on was done; a sandbox opened otherwise ends an offer. */
export function lookOn(): void {
  const { at } = tour;
  if (at === null || at >= STOPS.length) return;
  if (at === 0 && live.id !== null && !taken) tour.at = null;
  else if (STOPS[at]?.done()) tour.at = at + 1;
  // Who waited a moment only is no question to ask: run on to the next.
  else if (at === 1 && running && stands()) void run();
}
