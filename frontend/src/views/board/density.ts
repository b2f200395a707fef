// How densely the board draws its queues: asked for in the address, or by how many there are.

import { address } from "@/lib/address.svelte";

export const DENSITIES = ["cards", "compact", "heat"] as const;
export type Density = (typeof DENSITIES)[number];

/** Queues from which a map says more than columns that nobody scrolls through. */
export const MANY_QUEUES = 24;

/** Return how to draw; reactive to the address. */
export function densityOf(queues: number): Density {
  const asked = DENSITIES.find((name) => name === address.query.get("density"));
  return asked ?? (queues > MANY_QUEUES ? "heat" : "cards");
}
