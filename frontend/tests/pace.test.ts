import { describe, expect, it } from "vitest";

import { arrived, slowPace, type Arrival } from "@/store/live/pace";

const every = (ms: number, count: number): readonly Arrival[] =>
  Array.from({ length: count }).reduce<readonly Arrival[]>((all, _, at) => arrived(all, { tick: at, atMs: at * ms }), []);

describe("the pace of a run", () => {
  it("is not spoken of while it is as chosen", () => {
    expect(slowPace(every(100, 60), 10)).toBeNull();
  });
  it("is said when it is clearly slower", () => {
    expect(slowPace(every(250, 30), 10)).toBeCloseTo(4);
  });
  it("cannot be slow where no speed was chosen", () => {
    expect(slowPace(every(900, 9), 0)).toBeNull();
  });
  it("begins anew after a rewind", () => {
    expect(arrived(every(100, 9), { tick: 2, atMs: 2000 })).toEqual([{ tick: 2, atMs: 2000 }]);
  });
});
