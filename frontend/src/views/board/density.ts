// How the board draws its work: asked for in the address, or by how many queues there are.

import { address } from "@/lib/address.svelte";
import { live } from "@/store/live/live.svelte";
import { queues } from "@/store/live/queues.svelte";
import { narrows } from "@/store/rows/workloadTable";
import { narrowing } from "@/views/board/narrowing";

export const DENSITIES = ["cards", "compact", "heat", "table"] as const;
export type Density = (typeof DENSITIES)[number];

/** Queues from which a map says more than columns that nobody scrolls through. */
export const MANY_QUEUES = 24;
const LARGE_QUEUES = 8;
const LARGE_WORKLOADS = 250;

/** Return how to draw; reactive to the address. Only queues of Kueue are drawn small or as a map. */
export function densityOf(): Density {
  const asked = DENSITIES.find((name) => name === address.query.get("density"));
  if (live.stack !== "kueue") return asked === "table" ? asked : "cards";
  return asked ?? (queues.columns.length > MANY_QUEUES ? "heat" : "cards");
}

/** Return whether there is more than a screen shows at once, or only part of it is asked for: then filters stand above the queues. */
export function isLarge(): boolean {
  return live.stack === "kueue" && (narrows(narrowing()) || queues.columns.length > LARGE_QUEUES || live.shown.keys("Workload").length > LARGE_WORKLOADS);
}
