import { describe, expect, it } from "vitest";

import { splitName } from "@/draw/names";
import { figuresOf, widthOf } from "@/draw/usage";

describe("a long name", () => {
  it("keeps the part that tells it from its neighbours", () => {
    expect(splitName("train-llama-7b-experiment-0614")).toEqual(["train-llama-7b-experiment", "-0614"]);
  });
  it("keeps its last letters where it has no parts", () => {
    expect(splitName("aaaaaaaaaaaaaaaaaaaab")).toEqual(["aaaaaaaaaaaaaaaaa", "aaab"]);
  });
  it("keeps more of its beginning where the end is a word", () => {
    expect(splitName("team-04-research")).toEqual(["team-04-rese", "arch"]);
  });
  it("is left whole while it is short", () => {
    expect(splitName("etl-1")).toEqual(["etl-1", ""]);
    expect(splitName("node-000")).toEqual(["node", "-000"]);
  });
});

describe("the figures of a usage bar", () => {
  const usage = { nominal: 40, used: 48, borrowed: 8, limit: null };
  it("name what is borrowed", () => {
    expect(figuresOf("nvidia.com/gpu", usage)).toEqual({ used: "48", of: "\u00a0/\u00a040", more: "\u00a0+8" });
  });
  it("take more width the longer they are", () => {
    const long = { ...usage, nominal: 1_120_000, used: 1_368_000, borrowed: 248_000 };
    expect(widthOf(figuresOf("cpu", long))).toBeGreaterThan(widthOf(figuresOf("cpu", { ...usage, nominal: 40_000, used: 48_000, borrowed: 8_000 })));
  });
});
