// Branches side by side, as the server compares them: deltas, lives, first differences.

import { ask } from "@/net/rest";
import type { Comparison } from "@/protocol/types";

/** Return how sandboxes compare, up to a tick that all have reached. */
export function fetchComparison(base: string, others: readonly string[], toTick: number): Promise<Comparison> {
  const query = { with: others.join(","), toTick };
  return ask("Comparison", "GET", `/sandboxes/${base}/compare`, { query });
}

/** Return how runs of an experiment compare, from their beginning to their ends. */
export function fetchRunsCompared(experiment: string, runs: readonly number[]): Promise<Comparison> {
  return ask("Comparison", "GET", `/experiments/${experiment}/compare`, { query: { runs: runs.join(",") } });
}
