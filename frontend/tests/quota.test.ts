import { describe, expect, it } from "vitest";

import { shareFormula } from "@/store/formula";
import { flowOf } from "@/store/flow";
import { nextVictims, shareAfter } from "@/store/next";
import { freePieces, poolsOf, strandedOf, usableOf } from "@/store/pools";
import { leavesOf, levelOf, pairsOf, scaleOf, shareValue, subtreeLevel, treeOf } from "@/store/quota";
import { cell, cohort, node, queue, workload } from "./worlds";

const GPU = "nvidia.com/gpu";

describe("the quota tree", () => {
  const all = cohort("all", [cell("cpu", 30, 0)], { lendable: { cpu: "30" } });
  const [a, b] = [queue("a", [cell("cpu", 10, 14)]), queue("b", [cell("cpu", 20, 2)])];
  const tree = treeOf([all], [a, b]);

  it("hangs queues under their cohort", () => {
    expect(tree.map(({ row, depth }) => `${depth} ${row.name}`)).toEqual(["0 all", "1 a", "1 b"]);
    expect(leavesOf(tree, "Cohort//all").map((row) => row.name)).toEqual(["a", "b"]);
  });

  it("sums the nominal quota below a cohort once", () => {
    expect(subtreeLevel(tree, "Cohort//all", "plain/cpu")).toMatchObject({ nominal: 30, used: 16 });
  });

  it("adds what a cohort brings itself", () => {
    const rich = cohort("all", [cell("cpu", 35, 0)]);
    expect(subtreeLevel(treeOf([rich], [a, b]), "Cohort//all", "plain/cpu").nominal).toBe(35);
  });

  it("counts what a lending limit keeps back as nominal all the same", () => {
    const shy = queue("b", [cell("cpu", 20, 2, { lendingLimit: "5" })]);
    const part = cohort("all", [cell("cpu", 15, 0)]);
    expect(subtreeLevel(treeOf([part], [a, shy]), "Cohort//all", "plain/cpu").nominal).toBe(30);
  });

  it("draws a cycle of cohorts once", () => {
    const loop = [cohort("x", [], { parent: "y" }), cohort("y", [], { parent: "x" })];
    expect(treeOf(loop, []).map(({ row }) => row.name)).toEqual(["x", "y"]);
  });

  it("names devices before cpu and memory", () => {
    const rows = [queue("a", [cell("memory", 1, 0), cell("cpu", 1, 0), cell(GPU, 1, 0)])];
    expect(pairsOf(rows)).toEqual([`plain/${GPU}`, "plain/cpu", "plain/memory"]);
  });

  it("says that a flavor is not covered", () => {
    expect(levelOf(a, "other/cpu").covered).toBe(false);
  });

  it("keeps one generous borrowing limit from squeezing every bar", () => {
    const levels = [levelOf(queue("a", [cell("cpu", 10, 4, { borrowingLimit: "9000" })]), "plain/cpu")];
    expect(scaleOf(levels)).toBeLessThan(30);
  });

  it("reads an infinite share", () => {
    expect(shareValue("inf")).toBe(Infinity);
  });
});

describe("the share formula", () => {
  const lendable = { [GPU]: "100", cpu: "2000000" };
  const all = cohort("all", [], { lendable });

  it("lets the resource with the largest fraction win", () => {
    const etl = queue("etl", [cell(GPU, 16, 14), cell("cpu", 600_000, 800_000)]);
    const [line] = shareFormula([etl], all);
    expect(line?.most).toBe(100);
    expect(line?.fractions.find((fraction) => fraction.wins)?.resource).toBe("cpu");
  });

  it("foresees the share of a head", () => {
    const research = queue("research", [cell(GPU, 24, 36)]);
    const head = workload({ totals: { [GPU]: "8" } });
    expect(shareAfter(research, head, all)).toBe(200);
  });

  it("is infinite for weight 0 that borrows", () => {
    const free = queue("free", [cell(GPU, 0, 1)], { weight: "0" });
    expect(shareAfter(free, workload({ totals: { [GPU]: "1" } }), all)).toBe(Infinity);
  });

  it("takes the lowest priority first, then the newest reservation", () => {
    const research = queue("research", [cell(GPU, 1, 3)]);
    const of = (name: string, priority: number, reservedMs: number) =>
      workload({ name, priority, reservedMs, phase: "admitted", clusterQueue: "research", totals: { [GPU]: "1" } });
    const found = nextVictims([research], GPU, [of("old", 0, 1), of("new", 0, 9), of("high", 5, 99)]);
    expect(found.map((row) => row.name)).toEqual(["new", "old", "high"]);
  });
});

describe("the picture of who lends to whom", () => {
  it("has as much on the left as on the right", () => {
    const flow = flowOf(
      [queue("a", [cell(GPU, 4, 10)]), queue("b", [cell(GPU, 9, 0, { lent: "6" })])], GPU, undefined,
    );
    expect(flow.total).toBe(6);
    expect(flow.lenders.map((one) => one.amount)).toEqual([6]);
    expect(flow.borrowers.map((one) => one.name)).toEqual(["a"]);
  });

  it("takes what nobody lends from the cohort's own quota", () => {
    const flow = flowOf([queue("a", [cell(GPU, 4, 10)])], GPU, cohort("all", []));
    expect(flow.lenders.map((one) => one.name)).toEqual(["all"]);
  });
});

describe("what is free on nodes", () => {
  const pools = poolsOf([node("n2", 8, 6), node("n10", 8, 7), node("n1", 8, 8), node("down", 8, 0, { state: "failed" })]);

  it("is in pieces, and only those that a pod fits in are of use", () => {
    expect(freePieces(pools, GPU)).toEqual([2, 1]);
    expect(usableOf([2, 1], 2)).toBe(2);
    expect(usableOf([2, 1], 4)).toBe(0);
  });

  it("is stranded when the largest waiting pod fits nowhere", () => {
    const asks = workload({ podSets: [{ name: "m", count: 1, minCount: null, requests: { [GPU]: "4" }, flavors: {} }] });
    expect(strandedOf(pools, [asks])).toMatchObject({ free: 3, usable: 0 });
  });

  it("is listed with names counted as people count", () => {
    expect(pools[0]?.nodes.map((one) => one.name)).toEqual(["down", "n1", "n2", "n10"]);
  });
});
