// The picture of who lends to whom: a ribbon from every lender to every borrower; pure.

import type { Flow } from "@/protocol/types";

export interface FlowStop {
  readonly name: string;
  readonly amount: number;
  readonly y: number;
  readonly size: number;
}
export interface Ribbon {
  readonly lender: string;
  readonly borrower: string;
  readonly amount: number;
  readonly path: string;
}
export interface FlowPicture {
  readonly total: number;
  readonly height: number;
  readonly lenders: readonly FlowStop[];
  readonly borrowers: readonly FlowStop[];
  readonly ribbons: readonly Ribbon[];
}

const TOP = 30;
const HEIGHT = 150;
const GAP = 30; // space for two lines of text between neighbours
const LEFT = 121;
const RIGHT = 319;

const MOST = 6; // stops of a side with a name of their own; smaller ones are one stop

/** Return the ribbons of what is lent; amounts of one resource are added over flavors.
 *
 * Of more than MOST + 1 lenders or borrowers the smaller ones stand together, under the name that `others` gives their number.
 */
export function flowOf(all: readonly Flow[], others: (n: number) => string): FlowPicture {
  const lent = together(together(all, "lender", others), "borrower", others);
  const given = sums(lent, (one) => one.lender.name);
  const taken = sums(lent, (one) => one.borrower.name);
  const total = [...given.values()].reduce((sum, value) => sum + value, 0);
  const scale = total === 0 ? 0 : HEIGHT / total;
  const most = Math.max(given.size, taken.size, 1);
  const lenders = stops(given, scale, most);
  const borrowers = stops(taken, scale, most);
  return { total, height: TOP + HEIGHT + GAP * (most - 1), lenders, borrowers, ribbons: ribbonsOf(lent, lenders, borrowers, scale) };
}

function together(lent: readonly Flow[], side: "lender" | "borrower", others: (n: number) => string): readonly Flow[] {
  const sizes = [...sums(lent, (one) => one[side].name)].toSorted((a, b) => b[1] - a[1]);
  if (sizes.length <= MOST + 1) return lent;
  const named = new Set(sizes.slice(0, MOST).map(([name]) => name));
  const rest = others(sizes.length - MOST);
  const parted = lent.map((one) => (named.has(one[side].name) ? one : { ...one, [side]: { ...one[side], name: rest } }));
  return parted.toSorted((a, b) => Number(a[side].name === rest) - Number(b[side].name === rest)); // at the end of its side
}

function sums(lent: readonly Flow[], of: (one: Flow) => string): Map<string, number> {
  const found = new Map<string, number>();
  for (const one of lent) found.set(of(one), (found.get(of(one)) ?? 0) + Number(one.amount));
  return found;
}

function stops(amounts: ReadonlyMap<string, number>, scale: number, most: number): FlowStop[] {
  // The shorter side stands in the middle of the longer one.
  let y = TOP + (GAP * (most - amounts.size)) / 2;
  return [...amounts].map(([name, amount]) => {
    const size = Math.max(2, amount * scale);
    const stop = { name, amount, y, size };
    y += size + GAP;
    return stop;
  });
}

function ribbonsOf(lent: readonly Flow[], lenders: readonly FlowStop[], borrowers: readonly FlowStop[], scale: number): Ribbon[] {
  const pairs = new Map<string, { lender: string; borrower: string; amount: number }>();
  for (const { lender, borrower, amount } of lent) {
    const key = `${lender.name}\n${borrower.name}`;
    const before = pairs.get(key)?.amount ?? 0;
    pairs.set(key, { lender: lender.name, borrower: borrower.name, amount: before + Number(amount) });
  }
  const left = new Map(lenders.map((stop) => [stop.name, stop.y]));
  const right = new Map(borrowers.map((stop) => [stop.name, stop.y]));
  return [...pairs.values()].map((one) => {
    const size = Math.max(1, one.amount * scale);
    const [from, to] = [left.get(one.lender) ?? 0, right.get(one.borrower) ?? 0];
    left.set(one.lender, from + size);
    right.set(one.borrower, to + size);
    return { lender: one.lender, borrower: one.borrower, amount: one.amount, path: band(LEFT, from, RIGHT, to, size) };
  });
}

function band(x1: number, y1: number, x2: number, y2: number, size: number): string {
  const middle = (x1 + x2) / 2;
  return (
    `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` +
    `V${y2 + size}C${middle} ${y2 + size} ${middle} ${y1 + size} ${x1} ${y1 + size}z`
  );
}
