// Fans of curves: in the ticks of the run, with what is infinite at the top of the plot.
import { expect, it } from "vitest";

import { cornersOf, medianOf, mostOf, type Fan } from "@/lib/fans";
import { fansOf } from "@/store/explain/fans";

const found = {
  nowMs: 10_000,
  curves: {
    atMs: [0, 400, 900, 2000, 5000],
    bands: [
      { of: "share" as const, name: "team", p10: [1, 2, 3, 4, 5], p50: [2, 3, 4, 5, 6], p90: [3, 4, 5, null, 7] },
      { of: "utilisation" as const, name: "cpu", p10: [0, 0, 0, 0, 0], p50: [50, 50, 50, 50, 50], p90: [100, 100, 100, 100, 100] },
    ],
  },
};

it("stands at the ticks that show its instants, the last of each", () => {
  const fan = fansOf(found, "share", 1000).get("team");
  expect(fan).toEqual({ ticks: [10, 11, 12, 15], low: [1, 3, 4, 5], middle: [2, 4, 5, 6], high: [3, 5, null, 7] });
});

it("has the curves of its kind alone, and none of no forecast", () => {
  expect([...fansOf(found, "utilisation", 1000).keys()]).toEqual(["cpu"]);
  expect(fansOf(undefined, "share", 1000).size).toBe(0);
  expect(fansOf({ nowMs: 0, curves: { atMs: [], bands: [] } }, "share", 1000).size).toBe(0);
});

it("goes along its upper line and back along its lower one", () => {
  const fan = fansOf(found, "share", 1000).get("team") as Fan;
  expect(cornersOf(fan, 9)).toEqual([[10, 3], [11, 5], [12, 9], [15, 7], [15, 5], [12, 4], [11, 3], [10, 1]]);
  expect(medianOf(fan, 9)).toEqual([[10, 2], [11, 4], [12, 5], [15, 6]]);
});

it("is as high as its highest finite value", () => {
  expect(mostOf(fansOf(found, "share", 1000).values())).toBe(7);
  expect(mostOf([])).toBe(0);
});
