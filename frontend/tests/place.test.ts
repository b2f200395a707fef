import { describe, expect, it } from "vitest";

import { neighbourOf } from "@/lib/place";

const box = (left: number, top: number): { left: number; top: number; width: number; height: number } => ({ left, top, width: 100, height: 100 });
const HERE = box(200, 200);
const AROUND = [box(80, 200), box(320, 200), box(200, 80), box(200, 320), box(440, 200)];

describe("the neighbour of a box", () => {
  it.each([["left", 0], ["right", 1], ["up", 2], ["down", 3]] as const)("on its %s is the nearest there", (way, index) => {
    expect(neighbourOf(HERE, AROUND, way)).toBe(index);
  });
  it("is nobody where nothing lies", () => {
    expect(neighbourOf(HERE, [box(80, 200)], "right")).toBe(-1);
  });
});
