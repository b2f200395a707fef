import { describe, expect, it } from "vitest";

import { partialOf, shortageOf } from "@/store/explain/shortage";

import { cell, queue, workload } from "./worlds";

const free = (resource: string, amount: number, flavor = "a100") =>
  cell(resource, amount, 0, { flavor, available: String(amount) });

describe("what a workload waits for", () => {
  const row = workload({ totals: { "nvidia.com/gpu": "4", cpu: "32000" } });

  it("is the resource that lacks most in the flavor that comes nearest", () => {
    const alpha = queue("alpha", [free("nvidia.com/gpu", 16), free("cpu", 24_000), free("nvidia.com/gpu", 0, "cpu-std"), free("cpu", 680_000, "cpu-std")]);
    expect(shortageOf(row, alpha)).toEqual({ flavor: "a100", resource: "cpu", requested: 32_000, free: 24_000, short: 8_000 });
  });
  it("is nothing where one flavor has room for all of it", () => {
    expect(shortageOf(row, queue("alpha", [free("nvidia.com/gpu", 4), free("cpu", 32_000)]))).toBeNull();
  });
});

describe("partial admission", () => {
  const set = { name: "main", count: 8, minCount: 2, requests: { cpu: "1000" }, flavors: {} };
  const row = workload({ podSets: [set], totals: { cpu: "8000" } });

  it("starts with as many pods as fit", () => {
    expect(partialOf(row, queue("alpha", [free("cpu", 5_500)]))).toMatchObject({ count: 5, least: 2 });
  });
  it("does nothing while the least does not fit", () => {
    expect(partialOf(row, queue("alpha", [free("cpu", 1_500)]))).toMatchObject({ count: null });
  });
  it("is not spoken of where no pod set may be made smaller", () => {
    expect(partialOf(workload({ podSets: [{ ...set, minCount: null }] }), queue("alpha", []))).toBeNull();
  });
});
