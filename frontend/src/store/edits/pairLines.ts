// How a queue goes on on both sides of a what-if: the values at an instant, where the sides are furthest apart, ghosts of curves; pure.

import type { PairLine, RunLine } from "@/protocol/types";

/** Both sides at an instant; null is an infinite share. */
export interface Apart {
  readonly without: number | null;
  readonly changed: number | null;
}

/** A curve on both sides over ticks, each value until the next. */
export interface Ghost {
  readonly ticks: readonly number[];
  readonly without: readonly (number | null)[];
  readonly changed: readonly (number | null)[];
}

export const lineKey = (of: PairLine["of"], queue: string, flavor = "", resource = ""): string => [of, queue, flavor, resource].join(" ");

/** Return the lines by key. */
export function linesByKey(lines: readonly PairLine[]): ReadonlyMap<string, PairLine> {
  return new Map(lines.map((line) => [lineKey(line.of, line.queue, line.flavor, line.resource), line]));
}

/** Return whether the sides of a line differ anywhere: a queue that differs has all of its lines. */
export const differs = ({ without, changed }: PairLine): boolean => without.values.length !== changed.values.length || without.values.some((value, at) => value !== changed.values[at] || without.atMs[at] !== changed.atMs[at]);

const CLUSTER_QUEUE = /^(used|share|waiting|held)$/;
/** Return the keys of the rows of the tree in which anything differs. */
export const rowsOf = (lines: Iterable<PairLine>): ReadonlySet<string> => new Set([...lines].flatMap(({ of, queue }) => (queue === "" || of === "node" ? [] : CLUSTER_QUEUE.test(of) ? [`ClusterQueue//${queue}`, `Queue//${queue}`] : [`Cohort//${queue}`])));

function valueAt({ atMs, values }: RunLine, ms: number): number | null {
  let [low, high] = [0, atMs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((atMs[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (values[low - 1] ?? null); // before its first value a queue does not exist
}

/** Return both sides of a line at an instant; null of no line. */
export const bothAt = (line: PairLine | undefined, ms: number): Apart | null => (line === undefined ? null : { without: valueAt(line.without, ms), changed: valueAt(line.changed, ms) });

/** Return both sides of a line at an instant; null where they are equal. */
export function apartAt(line: PairLine | undefined, ms: number): Apart | null {
  const both = bothAt(line, ms);
  return both?.without === both?.changed ? null : both;
}

const instants = (line: PairLine): number[] => [...new Set([...line.without.atMs, ...line.changed.atMs])].sort((a, b) => a - b);

/** Return the instant at which the use of queues is furthest apart, the first of those; null where it is nowhere. */
export function furthestApart(lines: Iterable<PairLine>): number | null {
  const used = [...lines].filter((line) => line.of === "used" && line.queue !== "");
  const most = used.map((line) => Math.max(1, ...line.without.values.map(Number), ...line.changed.values.map(Number)));
  let found: { ms: number; by: number } | null = null;
  for (const ms of [...new Set(used.flatMap(instants))].sort((a, b) => a - b)) {
    const by = used.reduce((sum, line, index) => {
      const apart = apartAt(line, ms);
      return apart === null ? sum : sum + Math.abs((apart.changed ?? 0) - (apart.without ?? 0)) / (most[index] ?? 1);
    }, 0);
    if (by > 0 && (found === null || by > found.by)) found = { ms, by };
  }
  return found?.ms ?? null;
}

/** Return a line as the ghost of a curve up to an instant, in parts of `unit`; undefined where there is none. */
export function ghostOf(line: PairLine | undefined, tickMs: number, toMs: number, unit = 1): Ghost | undefined {
  if (line === undefined) return undefined;
  const all = [...instants(line).filter((ms) => ms < toMs), toMs];
  const side = (run: RunLine): (number | null)[] => all.map((ms) => valueAt(run, ms)).map((value) => (value === null ? null : value / unit));
  return { ticks: all.map((ms) => ms / tickMs), without: side(line.without), changed: side(line.changed) };
}

/** Return the highest finite value of some ghosts; 0 of none. */
export function mostOfGhosts(ghosts: Iterable<Ghost>): number {
  let most = 0;
  for (const ghost of ghosts) for (const value of [...ghost.without, ...ghost.changed]) most = Math.max(most, value ?? 0);
  return most;
}
