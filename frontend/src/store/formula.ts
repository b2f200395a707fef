// The weighted share with its numbers filled in; pure.

import { amount, orderResources } from "@/lib/amounts";
import type { ClusterQueueRow, CohortRow } from "@/protocol/wire";

export interface Fraction {
  readonly resource: string;
  readonly borrowed: number;
  readonly lendable: number;
  readonly permille: number; // borrowed ÷ lendable × 1000
  readonly wins: boolean;
}

export interface ShareLine {
  readonly key: string;
  readonly name: string;
  readonly fractions: readonly Fraction[];
  readonly most: number;
  readonly weight: number;
  readonly share: string; // the engine's own value, as it travels
}

/** Return one line per queue of a cohort.
 *
 * The share itself is the engine's; the fractions show where it comes from.
 * Source: Kueue, dominant resource share.
 */
export function shareFormula(queues: readonly ClusterQueueRow[], cohort: CohortRow): ShareLine[] {
  const resources = orderResources(Object.keys(cohort.lendable));
  return queues.map((row) => {
    const raw = resources.map((resource) => fractionOf(row, resource, amount(cohort.lendable[resource])));
    const most = Math.max(0, ...raw.map((fraction) => fraction.permille));
    const fractions = raw.map((fraction) => ({ ...fraction, wins: most > 0 && fraction.permille === most }));
    return { key: row.key, name: row.name, fractions, most, weight: Number(row.weight), share: row.share };
  });
}

function fractionOf(row: ClusterQueueRow, resource: string, lendable: number): Fraction {
  const cells = row.cells.filter((cell) => cell.resource === resource);
  const borrowed = cells.reduce((sum, cell) => sum + amount(cell.borrowed), 0);
  const permille = lendable === 0 ? 0 : (borrowed * 1000) / lendable;
  return { resource, borrowed, lendable, permille, wins: false };
}
