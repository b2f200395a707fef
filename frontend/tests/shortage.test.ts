import { describe, expect, it } from "vitest";

import type { Explanation } from "@/protocol/types";
import { partialOf, shortageOf } from "@/store/explain/shortage";

import { cell, queue, workload } from "./worlds";

const free = (resource: string, amount: number, flavor = "a100") =>
  cell(resource, amount, 0, { flavor, available: String(amount) });

describe("what a workload waits for", () => {
  const row = (flavor: string, resource: string, requested: number, available: number, verdict = "noFit", potential = 100_000) =>
    ({ flavor, resource, verdict, requested: String(requested), available: String(available), shortfall: String(Math.max(0, requested - available)), potential: String(potential) }) as Explanation["flavors"][number];
  const of = (ran: boolean, ...flavors: Explanation["flavors"][number][]) => shortageOf({ atMs: 0, waiting: null, attempt: { ran } as Explanation["attempt"], flavors });
  const gpu = row("a100", "nvidia.com/gpu", 4, 16);
  const cpu = row("a100", "cpu", 32_000, 24_000);

  it("is the resource that lacks most in the flavor that comes nearest", () => {
    expect(of(true, gpu, cpu, row("cpu-std", "nvidia.com/gpu", 4, 0))).toEqual({ flavor: "a100", resource: "cpu", requested: 32_000, free: 24_000, short: 8_000 });
  });
  it("is of a flavor that would do were nothing used, where there is one", () => {
    expect(of(true, row("cpu-std", "nvidia.com/gpu", 4, 0, "noFit", 0), row("gpu", "nvidia.com/gpu", 4, 0))?.flavor).toBe("gpu");
  });
  it("is nothing where one flavor has room for all of it", () => {
    expect(of(true, gpu, row("spot", "nvidia.com/gpu", 4, 0))).toBeNull();
  });
  it("is of the resource group that lacks, where another one has room", () => {
    expect(of(true, row("std", "cpu", 2_000, 64_000), row("a100", "nvidia.com/gpu", 8, 0), row("h100", "nvidia.com/gpu", 8, 6))).toMatchObject({ flavor: "h100", short: 2 });
    expect(of(true, row("std", "cpu", 2_000, 1_500), row("a100", "nvidia.com/gpu", 8, 0))?.flavor).toBe("a100");
  });
  it("is nothing where no attempt was made, or a flavor was not looked at for its quota", () => {
    expect(of(false, cpu)).toBeNull();
    expect(of(true, row("a100", "cpu", 32_000, 0, "barred"))).toBeNull();
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
