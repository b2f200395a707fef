// What holds the same stays the same object.
import { expect, it } from "vitest";

import { sameList, sameMap } from "@/lib/same";

it("keeps a list that holds the same in the same order, and no other", () => {
  const before = ["a", "b"];
  expect(sameList(before, ["a", "b"])).toBe(before);
  for (const next of [["b", "a"], ["a"], ["a", "b", "c"]]) expect(sameList(before, next)).toBe(next);
});

it("keeps a map that holds the same under the same keys, and no other", () => {
  const before = new Map([["a", 1], ["b", 2]]);
  expect(sameMap(before, new Map([["b", 2], ["a", 1]]))).toBe(before);
  const others = [new Map([["a", 1]]), new Map([["a", 1], ["b", 3]]), new Map([["a", 1], ["c", 2]])];
  for (const next of others) expect(sameMap(before, next)).toBe(next);
});
