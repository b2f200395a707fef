// The quota tree as the board draws it: order, sums of a cohort, scales; pure.

import { formatNumber } from "@/lib/words.svelte";
import { amount, isUnlimited, orderResources } from "@/lib/amounts";
import { clusterOf } from "@/store/rows/clusters";
import type { QuotaCell, ClusterQueueRow, CohortRow, WorkloadCounts } from "@/protocol/types";

export type QuotaRow = CohortRow | ClusterQueueRow;

export interface Branch {
  readonly row: QuotaRow;
  readonly depth: number;
  readonly parent: string; // key, or ""
}

export interface Level {
  readonly nominal: number;
  readonly used: number;
  readonly borrowed: number;
  readonly lent: number;
  readonly limit: number | null; // nominal + borrowing limit; null = none
  readonly covered: boolean;
}

const UNCOVERED: Level = {
  nominal: 0,
  used: 0,
  borrowed: 0,
  lent: 0,
  limit: null,
  covered: false,
};

/** Return the tree top down, cohorts before queues, each under its parent. */
export function treeOf(
  cohorts: readonly CohortRow[],
  queues: readonly ClusterQueueRow[],
): Branch[] {
  const names = new Set(cohorts.map((cohort) => cohort.name));
  const under = new Map<string, QuotaRow[]>();
  for (const row of [...cohorts, ...queues]) {
    const parent = row.kind === "Cohort" ? row.parent : row.cohort;
    const home = names.has(parent) && parent !== row.name ? parent : "";
    under.set(home, [...(under.get(home) ?? []), row]);
  }
  const branches: Branch[] = [];
  const seen = new Set<string>();
  grow("", 0, "", under, branches, seen);
  // What hangs in a cycle of cohorts hangs from no root; it is drawn all the same.
  for (const cohort of cohorts.filter((row) => !seen.has(row.key))) {
    if (seen.has(cohort.key)) continue;
    seen.add(cohort.key);
    branches.push({ row: cohort, depth: 0, parent: "" });
    grow(cohort.name, 1, cohort.key, under, branches, seen);
  }
  return branches;
}

function grow(
  name: string,
  depth: number,
  parent: string,
  under: ReadonlyMap<string, readonly QuotaRow[]>,
  into: Branch[],
  seen: Set<string>,
): void {
  for (const row of under.get(name) ?? []) {
    if (seen.has(row.key)) continue; // a cycle of cohorts is drawn once
    seen.add(row.key);
    into.push({ row, depth, parent });
    if (row.kind === "Cohort") grow(row.name, depth + 1, row.key, under, into, seen);
  }
}

/** Return the "flavor/resource" pairs of a tree: devices first, then cpu, memory. */
export function pairsOf(rows: readonly QuotaRow[]): string[] {
  const flavors = new Map<string, Set<string>>();
  for (const cell of rows.flatMap((row) => row.cells)) {
    const there = flavors.get(cell.resource) ?? new Set<string>();
    flavors.set(cell.resource, there.add(cell.flavor));
  }
  return orderResources(flavors.keys()).flatMap((resource) =>
    [...(flavors.get(resource) ?? [])].map((flavor) => `${flavor}/${resource}`),
  );
}

/** Return "flavor" and "resource" of a pair; resources may hold slashes. */
export function splitPair(pair: string): [string, string] {
  const at = pair.indexOf("/");
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** Return the level of one queue in one pair. */
export function levelOf(row: QuotaRow, pair: string): Level {
  let known = levels.get(row.cells);
  if (known === undefined) levels.set(row.cells, (known = new Map<string, Level>()));
  let level = known.get(pair);
  if (level === undefined) {
    const cell = cellOf(row, pair);
    level = cell === undefined ? UNCOVERED : levelOfCell(cell);
    known.set(pair, level);
  }
  return level;
}

// Cells that did not change keep their level, so that no bar is drawn again for them.
const levels = new WeakMap<readonly QuotaCell[], Map<string, Level>>();

function levelOfCell(cell: QuotaCell): Level {
  const nominal = amount(cell.nominal);
  const limit = cell.borrowingLimit === null ? null : amount(cell.borrowingLimit);
  return {
    nominal,
    used: amount(cell.used),
    borrowed: amount(cell.borrowed),
    lent: amount(cell.lent),
    limit: limit === null || isUnlimited(limit) ? null : nominal + limit,
    covered: true,
  };
}

/** Return the sums of a cohort: its own quota and all that hangs below it. */
export function subtreeLevel(tree: readonly Branch[], key: string, pair: string): Level {
  const queues = leavesOf(tree, key).map((row) => levelOf(row, pair));
  const cohorts = [key, ...cohortsUnder(tree, key).map((row) => row.key)];
  const own = cohorts.map((cohort) => ownQuota(tree, cohort, pair)).reduce((a, b) => a + b, 0);
  const sum = (pick: (level: Level) => number): number =>
    queues.reduce((total, level) => total + pick(level), 0);
  return {
    nominal: sum((level) => level.nominal) + own,
    used: sum((level) => level.used),
    borrowed: sum((level) => level.borrowed),
    lent: 0,
    limit: null,
    covered: own > 0 || queues.some((level) => level.covered),
  };
}

/** Return a cohort's own quota of a pair: its cell holds what its children lend as well. */
export function ownQuota(tree: readonly Branch[], key: string, pair: string): number {
  const row = tree.find((branch) => branch.row.key === key)?.row;
  const cell = row && cellOf(row, pair);
  if (cell === undefined) return 0;
  const lent = tree
    .filter((branch) => branch.parent === key)
    .reduce((total, branch) => total + lentBy(cellOf(branch.row, pair)), 0);
  return Math.max(0, amount(cell.nominal) - lent);
}

export interface Total {
  used: number;
  nominal: number;
}

/** Return what there is of each resource, and what of it is used, as a sample counts both: O(cells).
 *
 * Of queues and of cohorts' own quota; where worker clusters have queues, of these alone.
 */
export function totalsOf(tree: readonly Branch[]): Map<string, Total> {
  const found = new Map<string, Total>();
  const total = (resource: string): Total => {
    let one = found.get(resource);
    if (one === undefined) found.set(resource, (one = { used: 0, nominal: 0 }));
    return one;
  };
  const queues = tree.filter(({ row }) => row.kind === "ClusterQueue");
  const ofWorkers = queues.filter(({ row }) => clusterOf(row.name) !== "");
  for (const { row } of ofWorkers.length > 0 ? ofWorkers : queues) {
    for (const cell of row.cells) {
      const one = total(cell.resource);
      one.used += amount(cell.used);
      one.nominal += amount(cell.nominal);
    }
  }
  if (ofWorkers.length > 0) return found;
  const lent = new Map<string, number>();
  const place = (key: string, cell: QuotaCell): string => `${key} ${cell.flavor}/${cell.resource}`;
  for (const { row, parent } of tree) {
    for (const cell of row.cells) lent.set(place(parent, cell), (lent.get(place(parent, cell)) ?? 0) + lentBy(cell));
  }
  for (const { row } of tree) {
    for (const cell of row.kind === "Cohort" ? row.cells : []) {
      total(cell.resource).nominal += Math.max(0, amount(cell.nominal) - (lent.get(place(row.key, cell)) ?? 0));
    }
  }
  return found;
}

function lentBy(cell: QuotaCell | undefined): number {
  if (cell === undefined) return 0;
  const limit = cell.lendingLimit === null ? Infinity : amount(cell.lendingLimit);
  return Math.min(amount(cell.nominal), limit);
}

function cellOf(row: QuotaRow, pair: string): QuotaCell | undefined {
  return row.cells.find((other) => `${other.flavor}/${other.resource}` === pair);
}

/** Return `next`, or `before` where nothing in it differs. */
export function sameLevel(before: Level | undefined, next: Level): Level {
  const names = Object.keys(next) as (keyof Level)[];
  return before !== undefined && names.every((name) => before[name] === next[name]) ? before : next;
}

/** Return the ClusterQueues under a cohort, at any depth. */
export function leavesOf(tree: readonly Branch[], key: string): ClusterQueueRow[] {
  return tree
    .filter((branch) => branch.parent === key)
    .flatMap(({ row }) => (row.kind === "Cohort" ? leavesOf(tree, row.key) : [row]));
}

function cohortsUnder(tree: readonly Branch[], key: string): CohortRow[] {
  return tree
    .filter((branch) => branch.parent === key)
    .flatMap(({ row }) => (row.kind === "Cohort" ? [row, ...cohortsUnder(tree, row.key)] : []));
}

/** Return the counts of several queues, added up. */
export function addCounts(rows: readonly { readonly counts: WorkloadCounts }[]): WorkloadCounts {
  const total = { pending: 0, inadmissible: 0, reserved: 0, admitted: 0, evicted: 0, finished: 0 };
  for (const { counts } of rows) {
    total.pending += counts.pending;
    total.inadmissible += counts.inadmissible;
    total.reserved += counts.reserved;
    total.admitted += counts.admitted;
    total.evicted += counts.evicted;
    total.finished += counts.finished;
  }
  return total;
}

/** Return the length that fills a bar, so that all bars of a column share one scale. */
export function scaleOf(levels: readonly Level[]): number {
  const reach = levels.map((level) => Math.max(level.used, level.nominal, level.limit ?? 0));
  const most = Math.max(0, ...levels.map((level) => Math.max(level.used, level.nominal)));
  // A generous borrowing limit may not squeeze every bar to a sliver.
  return Math.max(most, Math.min(Math.max(0, ...reach), most * 2.2), 1);
}

/** Return a weighted share as a number; Infinity for weight 0 while borrowing. */
export function shareValue(share: string): number {
  return share === "inf" ? Infinity : Number(share);
}

/** Return a weighted share as every view writes it: whole, rounded up as Kueue rounds it; "∞" for a borrower of weight 0. */
export function shareText(share: number): string {
  return Number.isFinite(share) ? formatNumber(Math.ceil(share - 1e-9)) : "∞";
}
