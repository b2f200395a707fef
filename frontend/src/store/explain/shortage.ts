// What a workload lacks, as one comparison: what it needs against what is free; pure.

import { amount } from "@/lib/amounts";
import type { ClusterQueueRow, Explanation, QuotaCell, WorkloadRow } from "@/protocol/types";

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

/** Return what is missing of quota in the flavor that comes nearest, of the resource group that lacks most; null where it waits for something else. */
export function shortageOf({ atMs, attempt, flavors, waiting }: Pick<Explanation, "atMs" | "attempt" | "flavors" | "waiting">): Shortage | null {
  if (!attempt.ran || (waiting?.notBeforeMs ?? 0) > atMs) return null; // in back-off it is not tried, whatever quota is free
  const worst = new Map<string, Shortage>(); // of each flavor: the resource that lacks the largest part of what is asked
  const never = new Set<string>(); // what would not do were nothing used is no near flavor
  const groups = new Map<string, string>(); // of a flavor and of a resource: the first flavor of its group, whose flavors share their resources
  for (const { flavor, resource, verdict, ...row } of flavors) {
    if (verdict === "barred" || verdict === "uncovered" || verdict === "notTried") continue;
    const group = groups.get(`flavor ${flavor}`) ?? groups.get(resource) ?? flavor;
    groups.set(`flavor ${flavor}`, group).set(resource, group);
    const [requested, free, short] = [amount(row.requested), amount(row.available), amount(row.shortfall)];
    if (requested > amount(row.potential)) never.add(flavor);
    const before = worst.get(flavor);
    if (before === undefined || short / requested > before.short / before.requested) worst.set(flavor, { flavor, resource, requested, free, short });
  }
  const part = (one: Shortage): number => one.short / one.requested;
  const order = [...worst.values()].toSorted((a, b) => Number(never.has(a.flavor)) - Number(never.has(b.flavor)) || part(a) - part(b));
  const nearest = new Map(order.toReversed().map((one) => [groups.get(`flavor ${one.flavor}`), one]));
  return [...nearest.values()].filter((one) => one.short > 0).toSorted((a, b) => part(b) - part(a))[0] ?? null;
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
  const flavors = new Set(queue.cells.map((cell) => cell.flavor));
  return [...flavors].some((flavor) => queue.cells.every((cell) => cell.flavor !== flavor || amount(row.totals[cell.resource]) <= freeOf(cell)));
}
