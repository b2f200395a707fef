// The stops of the tour: open a cluster, carry a card, see who pays, keep or discard.

import { drag } from "@/lib/drag.svelte";
import type { Holes, Word } from "@/lib/words.svelte";
import type { WorkloadRow } from "@/protocol/types";
import { whatIf } from "@/store/edits/whatIf.svelte";
import { displayNameOf } from "@/store/live/displayNames";
import { nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { tour } from "@/store/sandboxes/tour.svelte";

export interface TourStop {
  readonly word: Word;
  /** What is said, and of what, while it is under way. */
  readonly under?: { readonly word: Word; readonly at: string; readonly way: () => boolean };
  /** What the mark points at: selectors, of which the first that is there counts. */
  readonly at: () => readonly string[];
  /** Where it is to go. */
  readonly to?: () => string | null;
  readonly holes?: () => Holes;
  readonly done: () => boolean;
}

const WAITS: readonly WorkloadRow["phase"][] = ["pending", "inadmissible"];
const VERDICT = "[data-testid=verdict]";
const place = (key: string): string => `section[data-key="${CSS.escape(key)}"]`;

// The last card in sight that waits: in the demo it would wait beyond the horizon. Where nobody waits, the last that is there.
function carried(): WorkloadRow | undefined {
  const keys = [...document.querySelectorAll<HTMLElement>("section[data-key^='ClusterQueue/'] [data-card^='Workload/']")].map((one) => one.dataset["card"] ?? "");
  const rows = keys.flatMap((key) => live.latest.get("Workload", key) ?? []);
  return rows.findLast((row) => WAITS.includes(row.phase)) ?? rows.at(-1);
}

// The nearest queue beside its own that takes it.
function goal(): string | null {
  const row = carried();
  const keys = [...document.querySelectorAll<HTMLElement>("section[data-key^='ClusterQueue/']")].map((one) => one.dataset["key"] ?? "");
  const own = keys.findIndex((key) => nameOf(key) === row?.clusterQueue);
  return keys[own - 1] ?? keys[own + 1] ?? null;
}

function carrying(): string[] {
  const row = carried();
  return row === undefined ? [] : [`[data-card="${CSS.escape(row.key)}"]`];
}

function names(): Holes {
  const [row, to] = [carried(), goal()];
  return { what: row === undefined ? "" : displayNameOf(row.key), from: row?.clusterQueue ?? "", to: to === null ? "" : nameOf(to) };
}

export const STOPS: readonly TourStop[] = [
  { word: "tour.open", at: () => ["[data-tour=play]"], done: () => live.loaded && !tour.fills },
  {
    word: "tour.drag",
    under: { word: "tour.over", at: VERDICT, way: () => drag.over !== null && whatIf.draft !== null },
    at: carrying,
    to: () => {
      const key = goal();
      return key === null ? null : place(key);
    },
    holes: names,
    done: () => whatIf.open,
  },
  { word: "tour.pays", at: () => [VERDICT], done: () => !whatIf.open },
];

/** Go on when the step that is on was done; a sandbox opened otherwise ends an offer. */
export function lookOn(): void {
  const { at } = tour;
  if (at === null || at >= STOPS.length) return;
  if (at === 0 && live.id !== null && !tour.taken) tour.at = null; // it is offered again at the next visit
  else if (STOPS[at]?.done()) tour.at = at + 1;
}
