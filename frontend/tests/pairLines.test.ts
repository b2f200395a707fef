// Both sides of a what-if over time: values at an instant, and what is drawn of them.
import { expect, it } from "vitest";

import type { PairLine } from "@/protocol/types";
import { apartAt, furthestApart, ghostOf, lineKey, linesByKey, mostOfGhosts } from "@/store/edits/pairLines";

const line = (without: Record<number, number | null>, changed: Record<number, number | null>, rest: Partial<PairLine> = {}): PairLine => {
  const run = (values: Record<number, number | null>): PairLine["without"] => ({ atMs: Object.keys(values).map(Number), values: Object.values(values) });
  return { of: "used", queue: "a", flavor: "f", resource: "cpu", without: run(without), changed: run(changed), ...rest };
};

it("holds a value until the next one, and says nothing where the sides are equal", () => {
  const one = line({ 0: 4, 9000: 0 }, { 0: 4, 3000: 8 });
  expect([0, 2999, 3000, 20_000].map((ms) => apartAt(one, ms))).toEqual([null, null, { without: 4, changed: 8 }, { without: 0, changed: 8 }]);
});

it("takes a queue that one side alone has as empty on the other", () => {
  expect(apartAt(line({}, { 0: 2 }), 5)).toEqual({ without: 0, changed: 2 });
});

it("finds the first instant at which the use of queues is furthest apart", () => {
  const total = line({ 0: 0 }, { 0: 99 }, { queue: "" });
  expect(furthestApart([line({ 0: 4 }, { 0: 4, 3000: 5, 6000: 8, 8000: 4 }), total])).toBe(6000);
  expect(furthestApart([])).toBeNull();
});

it("makes a ghost up to the horizon, with gaps where a share is infinite", () => {
  const ghost = ghostOf(line({ 0: 10 }, { 0: 10, 2000: null, 9000: 7 }), 1000, 5000, 10);
  expect(ghost).toEqual({ ticks: [0, 2, 5], without: [1, 1, 1], changed: [1, null, null] });
  expect(mostOfGhosts(ghost === undefined ? [] : [ghost])).toBe(1);
});

it("is found by what it is of", () => {
  expect(linesByKey([line({}, {})]).get(lineKey("used", "a", "f", "cpu"))?.queue).toBe("a");
});
