// Shares with the numbers they come from, as the server explains them at a tick.

import { ask, Refusal } from "@/net/rest";
import type { Fairness, QueueFairness } from "@/protocol/types";

/** What shares mean depends on the stack: cohorts of Kueue, or queues of YuniKorn. */
export type Shares = Fairness | QueueFairness;

/** Return who has what share and why; null where the stack shares nothing out. */
export async function fetchFairness(id: string, tick: number | null, yunikorn: boolean): Promise<Shares | null> {
  const answer = yunikorn ? "QueueFairness" : "Fairness";
  try {
    return await ask(answer, "GET", `/sandboxes/${id}/fairness`, { query: { tick } });
  } catch (error) {
    if (error instanceof Refusal && error.code === 422) return null;
    throw error;
  }
}

/** Return Kueue's part of an answer. */
export function ofCohorts(shares: Shares | null): Fairness | null {
  return shares !== null && "formulas" in shares ? shares : null;
}

/** Return YuniKorn's part of an answer. */
export function ofQueues(shares: Shares | null): QueueFairness | null {
  return shares !== null && "queues" in shares ? shares : null;
}

/** Return a share as a number: null travels for that of a borrower of weight 0. */
export function shareOf(share: number | null): number {
  return share ?? Infinity;
}
