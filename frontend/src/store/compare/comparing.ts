// Branches side by side, as the server compares them: deltas, lives, first differences.

import { ask } from "@/net/rest";
import type { Comparison, PairVerdict } from "@/protocol/types";

/** Return how sandboxes compare, up to a tick that all have reached. */
export function fetchComparison(base: string, others: readonly string[], toTick: number): Promise<Comparison> {
  const query = { with: others.join(","), toTick };
  return ask("Comparison", "GET", `/sandboxes/${base}/compare`, { query });
}

/** Return what another branch makes different, up to the last tick that both have reached. */
export function fetchPair(base: string, other: string, signal: AbortSignal): Promise<PairVerdict> {
  return ask("PairVerdict", "GET", `/sandboxes/${base}/pair`, { query: { with: other }, signal });
}

/** Return how runs of an experiment compare, from their beginning to their ends. */
export function fetchRunsCompared(experiment: string, runs: readonly number[]): Promise<Comparison> {
  return ask("Comparison", "GET", `/experiments/${experiment}/compare`, { query: { runs: runs.join(",") } });
}
