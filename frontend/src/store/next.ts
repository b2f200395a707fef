// Who is next: the share that a head would have, the borrowers that would yield; pure.

import { amount } from "@/lib/amounts";
import type { ClusterQueueRow, CohortRow, WorkloadRow } from "@/protocol/wire";

/** Return the weighted share of a queue with one more workload; Infinity for weight 0.
 *
 * What is asked counts as borrowed from where the nominal quota of the resource ends.
 * Source: Kueue, fair sharing, share after admission.
 */
export function shareAfter(queue: ClusterQueueRow, workload: WorkloadRow, cohort: CohortRow): number {
  const shares = Object.entries(cohort.lendable).map(([resource, text]) => {
    const lendable = amount(text);
    const cells = queue.cells.filter((cell) => cell.resource === resource);
    const nominal = cells.reduce((sum, cell) => sum + amount(cell.nominal), 0);
    const used = cells.reduce((sum, cell) => sum + amount(cell.used), 0);
    const borrowed = Math.max(0, used + amount(workload.totals[resource]) - nominal);
    return lendable === 0 ? 0 : (borrowed * 1000) / lendable;
  });
  const most = Math.max(0, ...shares);
  const weight = Number(queue.weight);
  return weight === 0 ? (most > 0 ? Infinity : 0) : most / weight;
}

/** Return admitted workloads of borrowing queues in the order of reclaim.
 *
 * Lowest priority first, then the newest quota reservation.
 * Source: Kueue, candidate ordering.
 */
export function nextVictims(
  queues: readonly ClusterQueueRow[],
  resource: string,
  workloads: readonly WorkloadRow[],
): WorkloadRow[] {
  const borrowers = new Set(
    queues
      .filter((row) => row.cells.some((cell) => cell.resource === resource && amount(cell.borrowed) > 0))
      .map((row) => row.name),
  );
  return workloads
    .filter((row) => row.phase === "admitted" || row.phase === "reserved")
    .filter((row) => borrowers.has(row.clusterQueue) && amount(row.totals[resource]) > 0)
    .sort((a, b) => a.priority - b.priority || (b.reservedMs ?? 0) - (a.reservedMs ?? 0));
}
