// The picture of who lends to whom: ribbons between lenders, the pool, borrowers; pure.

import { amount } from "@/lib/amounts";
import type { ClusterQueueRow, CohortRow } from "@/protocol/wire";

export interface Ribbon {
  readonly name: string;
  readonly amount: number;
  readonly y: number;
  readonly size: number;
  readonly path: string;
}

export interface Flow {
  readonly total: number;
  readonly height: number;
  readonly poolY: number;
  readonly poolSize: number;
  readonly lenders: readonly Ribbon[];
  readonly borrowers: readonly Ribbon[];
}

const HEIGHT = 150;
const GAP = 30; // room for two lines of text between neighbours
const LEFT = { from: 121, to: 214 };
const RIGHT = { from: 226, to: 319 };

/** Return the ribbons of one resource in a cohort.
 *
 * What is borrowed and not lent by a queue comes from the cohort's own quota.
 */
export function flowOf(
  queues: readonly ClusterQueueRow[],
  resource: string,
  cohort: CohortRow | undefined,
): Flow {
  const borrowed = sums(queues, resource, "borrowed");
  const lent = sums(queues, resource, "lent");
  const total = borrowed.reduce((sum, [, value]) => sum + value, 0);
  const missing = total - lent.reduce((sum, [, value]) => sum + value, 0);
  const lenders = missing > 0 && cohort !== undefined ? [...lent, [cohort.name, missing] as const] : lent;
  const scale = total === 0 ? 0 : HEIGHT / total;
  const most = Math.max(lenders.length, borrowed.length, 1);
  const height = 30 + HEIGHT + GAP * (most - 1);
  const poolY = 30 + (GAP * (most - 1)) / 2;
  return {
    total,
    height,
    poolY,
    poolSize: HEIGHT,
    lenders: ribbons(lenders, scale, poolY, LEFT, true),
    borrowers: ribbons(borrowed, scale, poolY, RIGHT, false),
  };
}

function sums(
  queues: readonly ClusterQueueRow[],
  resource: string,
  side: "borrowed" | "lent",
): (readonly [string, number])[] {
  return queues
    .map((row) => {
      const cells = row.cells.filter((cell) => cell.resource === resource);
      return [row.name, cells.reduce((sum, cell) => sum + amount(cell[side]), 0)] as const;
    })
    .filter(([, value]) => value > 0);
}

function ribbons(
  shares: readonly (readonly [string, number])[],
  scale: number,
  poolY: number,
  span: { readonly from: number; readonly to: number },
  lending: boolean,
): Ribbon[] {
  let outer = 30;
  let inner = poolY;
  return shares.map(([name, value]) => {
    const size = Math.max(2, value * scale);
    const [left, right] = lending ? [outer, inner] : [inner, outer];
    const ribbon = { name, amount: value, y: outer, size, path: band(span.from, left, span.to, right, size) };
    outer += size + GAP;
    inner += size;
    return ribbon;
  });
}

function band(x1: number, y1: number, x2: number, y2: number, size: number): string {
  const middle = (x1 + x2) / 2;
  return (
    `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` +
    `V${y2 + size}C${middle} ${y2 + size} ${middle} ${y1 + size} ${x1} ${y1 + size}z`
  );
}
