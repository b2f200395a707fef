// Branches side by side, as the server compares them: deltas, lives, first differences.

import { ask } from "@/net/rest";
import type { Comparison, Curves } from "@/protocol/types";

type Points = readonly (number | null)[];

/** Return how sandboxes compare, up to a tick that all have reached. */
export function fetchComparison(base: string, others: readonly string[], toTick: number): Promise<Comparison> {
  const query = { with: others.join(","), toTick };
  return ask("Comparison", "GET", `/sandboxes/${base}/compare`, { query });
}

/** Return how runs of an experiment compare, from their beginning to their ends. */
export function fetchRunsCompared(experiment: string, runs: readonly number[]): Promise<Comparison> {
  return ask("Comparison", "GET", `/experiments/${experiment}/compare`, { query: { runs: runs.join(",") } });
}

/** Return the queue whose curves lie furthest apart; "" without queues. */
export function mostDifferent(curves: readonly Curves[], of: "shares" | "used", resource: string): string {
  const [first, ...others] = curves;
  const pointsIn = (one: Curves | undefined, queue: string): Points => (of === "shares" ? one?.shares[queue] : one?.used[queue]?.[resource]) ?? [];
  const gap = (queue: string): number => {
    const base = pointsIn(first, queue);
    return others.reduce((sum, other) => sum + pointsIn(other, queue).reduce<number>((all, value, at) => all + Math.abs((value ?? 0) - (base[at] ?? 0)), 0), 0);
  };
  const names = Object.keys((of === "shares" ? first?.shares : first?.used) ?? {});
  return names.map((name) => [name, gap(name)] as const).sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}
