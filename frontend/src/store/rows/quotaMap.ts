// What the map of queues shows of each: how much of its nominal quota is used; pure.

import type { ClusterQueueRow } from "@/protocol/types";
import { levelOf, pairsOf, splitPair, type Total } from "@/store/rows/quota";

/** Return a "flavor/resource" pair for each resource: the one whose quota is used most, then the one of most quota.
 *
 * Devices come first, then cpu and memory; pairs without quota and use come last.
 */
export function busiestPairs(queues: readonly ClusterQueueRow[]): string[] {
  const best = new Map<string, string>();
  for (const pair of pairsOf(queues)) {
    const resource = splitPair(pair)[1];
    const before = best.get(resource);
    if (before === undefined || isBusier(sumOf(queues, pair), sumOf(queues, before))) best.set(resource, pair);
  }
  const idle = [...best.values()].filter((pair) => isEmpty(sumOf(queues, pair)));
  return [...[...best.values()].filter((pair) => !idle.includes(pair)), ...idle];
}

/** Return the pair of `pairs` whose quota is used most, of those that most queues have quota of; the first among equals. */
export function mainPairOf(queues: readonly ClusterQueueRow[], pairs: readonly string[]): string {
  const covered = pairs.map((pair) => queues.filter((queue) => levelOf(queue, pair).nominal > 0).length);
  const [first = "", ...rest] = pairs.filter((_, index) => 2 * (covered[index] ?? 0) >= Math.max(...covered));
  return rest.reduce((best, pair) => (ratio(sumOf(queues, pair)) > ratio(sumOf(queues, best)) ? pair : best), first);
}

/** Return whether half of some quota is used. */
export function isContended(queues: readonly ClusterQueueRow[]): boolean {
  return pairsOf(queues).some((pair) => ratio(sumOf(queues, pair)) >= 0.5);
}

function sumOf(queues: readonly ClusterQueueRow[], pair: string): Total {
  const levels = queues.map((queue) => levelOf(queue, pair));
  return { used: levels.reduce((sum, { used }) => sum + used, 0), nominal: levels.reduce((sum, { nominal }) => sum + nominal, 0) };
}

function isBusier(one: Total, other: Total): boolean {
  const [a, b] = [ratio(one), ratio(other)];
  return a === b ? one.nominal > other.nominal : a > b;
}

const isEmpty = ({ used, nominal }: Total): boolean => used === 0 && nominal === 0;
const ratio = ({ used, nominal }: Total): number => (used === 0 ? 0 : used / nominal);

/** Return used over nominal quota; over 1 while borrowing, 0 where nothing is covered. */
export function loadOf(queue: ClusterQueueRow, pair: string): number {
  return loadIf(queue, pair, levelOf(queue, pair).used);
}

/** Return the same if so much were used. */
export function loadIf(queue: ClusterQueueRow, pair: string, used: number): number {
  const { nominal } = levelOf(queue, pair);
  return nominal > 0 ? used / nominal : used > 0 ? Infinity : 0;
}
