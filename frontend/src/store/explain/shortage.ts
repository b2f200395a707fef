// Why a workload waits, as one comparison: what it needs against what is free; pure.

import { amount } from "@/lib/amounts";
import type { ClusterQueueRow, QuotaCell, WorkloadRow } from "@/protocol/types";

/** The resource that is missing in the flavor that comes nearest to fitting. */
export interface Shortage {
  readonly flavor: string;
  readonly resource: string;
  readonly requested: number;
  readonly free: number;
  readonly short: number;
}

/** What partial admission could make of it now: `count` of `all` pods, or null when not even `least` fit. */
export interface Partial {
  readonly podSet: string;
  readonly all: number;
  readonly least: number;
  readonly count: number | null;
}

const freeOf = (cell: QuotaCell): number => Math.max(0, amount(cell.available));

/** Return what is missing, or null when quota is free for all that is asked. */
export function shortageOf(row: WorkloadRow, queue: ClusterQueueRow): Shortage | null {
  const flavors = [...new Set(queue.cells.map((cell) => cell.flavor))];
  const worst = flavors.flatMap((flavor) => {
    const found = missing(row, queue.cells.filter((cell) => cell.flavor === flavor));
    return found === undefined ? [] : [found];
  });
  if (worst.length === 0 || worst.some((one) => one.short === 0)) return null;
  return worst.reduce((best, one) => (one.short / one.requested < best.short / best.requested ? one : best));
}

// The resource of a flavor that lacks the largest part of what is asked; undefined when it covers none.
function missing(row: WorkloadRow, cells: readonly QuotaCell[]): Shortage | undefined {
  const all = cells
    .map((cell) => {
      const [requested, free] = [amount(row.totals[cell.resource]), freeOf(cell)];
      return { flavor: cell.flavor, resource: cell.resource, requested, free, short: Math.max(0, requested - free) };
    })
    .filter((one) => one.requested > 0);
  return all.toSorted((a, b) => b.short / b.requested - a.short / a.requested)[0];
}

/** Return what partial admission could do, or null where no pod set may be made smaller. */
export function partialOf(row: WorkloadRow, queue: ClusterQueueRow): Partial | null {
  const set = row.podSets.find((one) => one.minCount !== null && one.minCount < one.count);
  if (set === undefined || set.minCount === null) return null;
  const { count: all, minCount: least } = set;
  for (let count = all; count >= least; count--) {
    if (fits(smaller(row, set.requests, all - count), queue)) return { podSet: set.name, all, least, count };
  }
  return { podSet: set.name, all, least, count: null };
}

function smaller(row: WorkloadRow, pod: Readonly<Record<string, string>>, fewer: number): WorkloadRow {
  const left = Object.entries(row.totals).map(([name, total]) => [name, String(amount(total) - fewer * amount(pod[name]))]);
  return { ...row, totals: Object.fromEntries(left) as Record<string, string> };
}

function fits(row: WorkloadRow, queue: ClusterQueueRow): boolean {
  return queue.cells.length > 0 && shortageOf(row, queue) === null;
}
