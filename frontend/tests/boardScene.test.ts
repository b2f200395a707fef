// The board of a stage: what the spotlight falls on.
import { expect, it } from "vitest";

import { boardScene, namedIn, type StageBoard, type StageQueue } from "@/views/lessons/stage/boardScene";

const node = (name: string, pod: string): StageBoard["nodes"][number] => ({ key: `Node//${name}`, name, used: { cpu: "1" }, allocatable: { cpu: "4" }, pods: [{ key: `Pod/d/${pod}`, name: pod }] });
const queue = (name: string): StageQueue => ({ key: `ClusterQueue//${name}`, name, colour: "red", resource: "", used: 0, quota: null, runs: "Admitted", waiting: [], running: [] });
const nodes = [node("a", "first"), node("b", "second")];

it.each([1, 3])("lights the node of a pod, beside %i queues", (count) => {
  const queues = Array.from({ length: count }, (_, n) => queue(`q${n}`));
  const scene = boardScene({ queues, nodes }, 396, new Set(["Pod/d/second"]));
  const dim = nodes.map((one) => scene.find((group) => group.id === `node ${one.key}`)?.dim);
  expect(dim).toEqual([true, false]);
});

it.each([
  ["Three of some run, the driver stays.", ["ClusterQueue//root.spark"], ["Pod/d/some-0", "Pod/d/driver-0001"]],
  ["Whose executor leaves the Spark application?", ["Pod/d/some-0"], ["ClusterQueue//root.spark"]],
  ["A node has room for one.", ["Node//a-1"], ["Node//node-1"]],
])("finds who is meant by %j", (text, not, meant) => {
  const there = namedIn({ queues: [queue("root.spark")], nodes: [node("node-1", "some-0"), node("a-1", "driver-0001")] }, [text]);
  for (const key of meant) expect(there).toContain(key);
  for (const key of not) expect(there).not.toContain(key);
});

it.each([1, 4, 5, 8])("writes who is on each of %i nodes within its box", (count) => {
  const pods = Array.from({ length: 60 }, (_, n) => ({ key: `Pod/d/p${n}`, name: `training-${n}` }));
  const all = Array.from({ length: count }, (_, n) => ({ ...node(`n${n}`, ""), pods }));
  for (const group of boardScene({ queues: [queue("q")], nodes: all }, 396, new Set()).filter((one) => one.id.startsWith("node"))) {
    const own = group.parts.find((part) => part.kind === "box");
    const texts = group.parts.filter((part) => part.kind === "text");
    expect(texts.at(-1)?.text).toMatch(/more$/);
    for (const part of texts) expect(part.y).toBeLessThan(own?.kind === "box" ? own.h : 0);
    expect(group.y + (own?.kind === "box" ? own.h : 0)).toBeLessThanOrEqual(396);
  }
});

it("draws bars of one resource on one scale, what is borrowed in its colour", () => {
  const queues = [[12, 6], [6, 6]].map(([used = 0, quota = 0], n) => ({ ...queue(`q${n}`), resource: "cpu", used, quota }));
  const long = (id: string): number[] => boardScene({ queues, nodes: [] }, 396, new Set()).filter((group) => group.id.startsWith("queue ")).flatMap((group) => group.parts.flatMap((part) => (part.kind === "box" && part.id === id ? [Math.round(part.w)] : [])));
  const [first = 0, second] = long("own");
  expect(second).toBe(first);
  expect(long("borrowed")).toEqual([first, 0]);
});

const cards = (count: number): StageQueue["waiting"] => Array.from({ length: count }, (_, n) => ({ key: `Workload/d/w${n}`, name: `workload-${n}`, request: "4 CPU", state: "pending" }));

it.each([0, 1, 2, 5, 30].flatMap((waiting) => [0, 1, 2, 5, 30].map((running) => [waiting, running] as const)))("keeps %i that wait and %i that run within their column, one below another", (waiting, running) => {
  const queues = [1, 2, 3, 4].map((n) => ({ ...queue(`q${n}`), waiting: cards(waiting), running: cards(running), resource: "cpu", used: 2, quota: 4 }));
  const parents = ["root", "lab"].map((name, depth) => ({ key: `Cohort//${name}`, name, depth, resource: "cpu", used: 8, quota: 16, leaves: queues.map(({ key }) => key) }));
  const found = boardScene({ parents, queues, nodes }, 396, new Set()).filter((group) => /^(?:section|card|rest)/.test(group.id) && group.x < 300);
  const heights = { section: 20, card: 26, rest: 18 };
  const spans = found.map((group) => [group.y, group.y + heights[group.id.split(" ")[0] as keyof typeof heights]] as const).toSorted((a, b) => a[0] - b[0]);
  for (const [index, span] of spans.entries()) expect(span[1]).toBeLessThanOrEqual(spans[index + 1]?.[0] ?? 396 - 96 - 8);
});

it("puts what is switched off or failed below what runs, and does not say that it waits", () => {
  const main = { ...queue("main"), running: cards(1), out: cards(2), outs: "Inactive, Failed" };
  const said = boardScene({ queues: [main], nodes: [] }, 396, new Set()).flatMap((group) => (group.id.startsWith("section") ? group.parts.map((part) => (part.kind === "text" ? part.text : "")) : []));
  expect(said).toEqual(["Admitted: 1", "Inactive, Failed: 2"]);
});

it("draws a tree above its queues, each parent over those below it and on their scale", () => {
  const queues = ["vision", "speech", "search"].map((name) => ({ ...queue(name), resource: "cpu", used: 1, quota: 4 }));
  const parent = (name: string, depth: number, leaves: string[], quota: number): NonNullable<StageBoard["parents"]>[number] => ({ key: `Cohort//${name}`, name, depth, resource: "cpu", used: 3, quota, leaves: leaves.map((one) => `ClusterQueue//${one}`) });
  const parents = [parent("root", 0, ["vision", "speech", "search"], 14), parent("research", 1, ["vision", "speech"], 10)];
  const scene = boardScene({ parents, queues, nodes: [] }, 396, new Set());
  const box = (id: string, part: string): { left: number; right: number; y: number } => {
    const group = scene.find((one) => one.id === id);
    const found = group?.parts.find((one) => one.kind === "box" && one.id === part);
    return group && found?.kind === "box" ? { left: group.x + found.x, right: group.x + found.x + found.w, y: group.y } : { left: 0, right: 0, y: 0 };
  };
  const [root, research] = [box("parent Cohort//root", "parent"), box("parent Cohort//research", "parent")];
  const [vision, speech, search] = [box("queue ClusterQueue//vision", "column"), box("queue ClusterQueue//speech", "column"), box("queue ClusterQueue//search", "column")];
  expect([root.left, root.right, research.left, research.right]).toEqual([vision.left, search.right, vision.left, speech.right]);
  expect([root.y, research.y, vision.y]).toEqual([root.y, research.y, vision.y].toSorted((a, b) => a - b));
  expect(root.y).toBeLessThan(research.y);
  const long = (id: string): number => box(id, "own").right - box(id, "own").left;
  expect(long("parent Cohort//research")).toBeCloseTo(3 * long("queue ClusterQueue//vision"));
});
