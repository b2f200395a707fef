import { describe, expect, it } from "vitest";

import type { Flow } from "@/protocol/types";
import { flowOf } from "@/store/explain/flow";
import { freePieces, largestAsk, poolShapes, poolsOf, strandedOf, usableOf } from "@/store/rows/pools";
import { leavesOf, levelOf, pairsOf, scaleOf, shareValue, subtreeLevel, totalsOf, treeOf } from "@/store/rows/quota";
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

  it("counts the own quota of cohorts with that of queues, as a sample does", () => {
    const rich = cohort("all", [cell("cpu", 35, 0)]);
    expect(totalsOf(treeOf([rich], [a, b])).get("cpu")).toEqual({ used: 16, nominal: 35 });
  });

  it("counts a worker's quota and not the manager's, where there are both", () => {
    const worker = queue("east:a", [cell("cpu", 8, 4)]);
    expect(totalsOf(treeOf([], [a, worker])).get("cpu")).toEqual({ used: 4, nominal: 8 });
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

describe("the picture of who lends to whom", () => {
  const others = (n: number): string => `${n} others`;
  const lends = (lender: string, borrower: string, amount: number): Flow => ({
    cohort: "all", flavor: "f", resource: GPU, amount: String(amount),
    lender: { kind: "ClusterQueue", name: lender }, borrower: { kind: "ClusterQueue", name: borrower },
  });

  it("has as much on the left as on the right", () => {
    const flow = flowOf([lends("b", "a", 6), lends("c", "a", 2), lends("b", "d", 4)], others);
    expect(flow.total).toBe(12);
    expect(flow.lenders.map((one) => [one.name, one.amount])).toEqual([["b", 10], ["c", 2]]);
    expect(flow.borrowers.map((one) => [one.name, one.amount])).toEqual([["a", 8], ["d", 4]]);
  });

  it("adds what one lends to another over flavors", () => {
    const flow = flowOf([lends("b", "a", 6), lends("b", "a", 1)], others);
    expect(flow.ribbons.map((one) => one.amount)).toEqual([7]);
  });

  it("puts the smaller of many lenders together, last on their side", () => {
    const flow = flowOf([1, 9, 2, 8, 3, 7, 4, 6].map((amount) => lends(`lender-${amount}`, "a", amount)), others);
    expect(flow.lenders.map((one) => one.name)).toEqual(["lender-9", "lender-8", "lender-3", "lender-7", "lender-4", "lender-6", "2 others"]);
    expect(flow.lenders.at(-1)?.amount).toBe(3);
  });
  it("is empty where nobody borrows", () => {
    expect(flowOf([], others)).toMatchObject({ total: 0, ribbons: [] });
  });
});

describe("what is free on nodes", () => {
  const nodes = [node("n2", 8, 6), node("n10", 8, 7), node("n1", 8, 8), node("down", 8, 0, { state: "failed" })];
  const pools = poolsOf(nodes);

  it("is in pieces, and only those that a pod fits in are of use", () => {
    expect(freePieces(pools, GPU)).toEqual([2, 1]);
    expect(usableOf([2, 1], 2)).toBe(2);
    expect(usableOf([2, 1], 4)).toBe(0);
  });

  it("is stranded when the largest waiting pod fits nowhere", () => {
    const asks = workload({ podSets: [{ name: "m", count: 1, minCount: null, requests: { [GPU]: "4" }, flavors: {} }] });
    expect(strandedOf(nodes, poolShapes(nodes), (resource) => largestAsk([asks], resource))).toMatchObject({ free: 3, usable: 0 });
  });

  it("is listed with names counted as people count", () => {
    expect(pools[0]?.nodes.map((one) => one.name)).toEqual(["down", "n1", "n2", "n10"]);
  });
});
