// What the map of queues shows of each: how much of its nominal quota is used; pure.

import type { ClusterQueueRow } from "@/protocol/types";
import { levelOf, pairsOf } from "@/store/rows/quota";

/** Return the "flavor/resource" that most queues have quota of; devices first among equals. */
export function mainPairOf(queues: readonly ClusterQueueRow[]): string {
  const covered = (pair: string): number => queues.filter((queue) => levelOf(queue, pair).nominal > 0).length;
  const [first = "", ...rest] = pairsOf(queues);
  return rest.reduce((best, pair) => (covered(pair) > covered(best) ? pair : best), first);
}

/** Return used over nominal quota; over 1 while borrowing, 0 where nothing is covered. */
export function loadOf(queue: ClusterQueueRow, pair: string): number {
  return loadIf(queue, pair, levelOf(queue, pair).used);
}

/** Return the same if so much were used. */
export function loadIf(queue: ClusterQueueRow, pair: string, used: number): number {
  const { nominal } = levelOf(queue, pair);
  return nominal > 0 ? used / nominal : used > 0 ? Infinity : 0;
}
