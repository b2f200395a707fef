import { describe, expect, it } from "vitest";

import { levelsOf } from "@/store/live/levels";
import { domainsOf, levelName, outside, piecesOf } from "@/store/rows/domains";
import { node } from "./worlds";

const LEVELS = ["example.com/block", "example.com/rack", "kubernetes.io/hostname"];
const GPU = "nvidia.com/gpu";
const placed = (name: string, block: string, rack: string, used: number, state: "ready" | "failed" = "ready") =>
  node(name, 8, used, { state, labels: { "example.com/block": block, "example.com/rack": rack, "kubernetes.io/hostname": name } });
const nodes = [placed("a1", "a", "r1", 4), placed("a2", "a", "r1", 4), placed("a3", "a", "r2", 0), placed("b1", "b", "r1", 8)];

describe("the domains of a topology", () => {
  it("hold what is free on their nodes, level by level", () => {
    const [a, b] = domainsOf(nodes, LEVELS, GPU);
    expect([a?.free, b?.free]).toEqual([16, 0]);
    expect(a?.inner.map((rack) => [rack.path.join("/"), rack.free])).toEqual([["a/r1", 8], ["a/r2", 8]]);
  });

  it("of one name in two blocks are two", () => {
    const racks = domainsOf(nodes, LEVELS, GPU).flatMap((block) => block.inner.map((rack) => rack.path.join("/")));
    expect(racks).toEqual(["a/r1", "a/r2", "b/r1"]);
  });

  it("count nothing of a node that is not ready", () => {
    expect(domainsOf([placed("a1", "a", "r1", 0, "failed")], LEVELS, GPU)[0]?.free).toBe(0);
  });

  it("leave out a node without a label of some level", () => {
    const bare = node("bare", 8, 0, { labels: { "example.com/block": "a" } });
    expect(domainsOf([bare], LEVELS, GPU)).toEqual([]);
    expect(outside([...nodes, bare], LEVELS)).toEqual([bare]);
  });

  it("are summed up as free pieces, largest first, without the full ones", () => {
    const levels = piecesOf(domainsOf(nodes, LEVELS, GPU), LEVELS);
    expect(levels.map((level) => level.domains)).toEqual([2, 3, 4]);
    expect(levels.map((level) => level.pieces)).toEqual([
      [{ size: 16, count: 1 }],
      [{ size: 8, count: 2 }],
      [{ size: 8, count: 1 }, { size: 4, count: 2 }],
    ]);
  });
});

describe("the levels of a flavor", () => {
  const flavor = { metadata: { name: "h100" }, spec: { topologyName: "datacenter" } };
  const topology = { metadata: { name: "datacenter" }, spec: { levels: LEVELS.map((nodeLabel) => ({ nodeLabel })) } };

  it("are those of its Topology", () => {
    expect(levelsOf([flavor], [topology]).get("h100")).toEqual(LEVELS);
  });

  it("are none where the Topology does not exist, or the flavor names none", () => {
    expect(levelsOf([flavor, { metadata: { name: "plain" } }], []).size).toBe(0);
    expect(levelsOf([{ metadata: { name: "plain" }, spec: {} }], [topology]).size).toBe(0);
  });

  it("are named as people call them", () => {
    expect(LEVELS.map(levelName)).toEqual(["block", "rack", "host"]);
  });
});
