// A pod's preemption as steps: nodes and their pods, rules while they decide, then the victims.

import { expect, test } from "vitest";

import type { PodPreemption, TriedNode } from "@/protocol/types";
import { otherNodes, outcomeAt, stepsOf } from "@/store/explain/nodeSteps";

const NOBODY = { why: "", lostBy: "", victims: [], violations: 0, costs: [], missing: [], pods: [] };
function node(name: string, outcome: string, costs: readonly number[] = []): TriedNode {
  const rules = ["violations", "victims"].slice(0, costs.length);
  const victims = costs.length > 0 ? [`Pod/default/on-${name}`] : [];
  return { ...NOBODY, node: name, outcome, victims, costs: rules.map((rule, at) => ({ rule, value: costs[at] ?? 0 })) };
}
function preemption(...nodes: TriedNode[]): PodPreemption {
  return {
    scheduler: "kube-scheduler", strategy: "DefaultPreemption", laws: "", preemptor: "Pod/default/boss", queue: "", priority: 9,
    atMs: 0, tick: 1, requests: [], node: "a", rules: ["violations", "victims"], nodes, totalNodes: nodes.length, wanted: 100,
    tied: [], budgets: [], path: [], sources: [], targets: [], reason: "", message: "",
  };
}
const rulesOf = (found: PodPreemption): unknown[] => stepsOf(found).flatMap((step) => (step.kind === "rule" ? [[step.rule, step.left, step.out]] : []));

test("a rule stands in the steps while more than one node is left, and says who is out", () => {
  const found = preemption(node("a", "chosen", [0, 1]), node("b", "lost", [1, 1]), node("c", "lost", [0, 2]));
  expect(rulesOf(found)).toEqual([["violations", ["a", "c"], ["b"]], ["victims", ["a"], ["c"]]]);
});

test("no rule is asked when one node is left, and what is equal in all rules is drawn", () => {
  expect(rulesOf(preemption(node("a", "chosen", [0, 1])))).toEqual([]);
  const tied = stepsOf(preemption(node("a", "chosen", [0, 1]), node("b", "lost", [0, 1])));
  expect(tied.at(-2)).toEqual({ kind: "draw", left: ["a", "b"] });
  expect(tied.at(-1)).toEqual({ kind: "targets" });
});

test("nodes without a try have no steps; they are grouped by what was said of them", () => {
  const taint = { ...node("x", "notHelpful"), why: "node(s) had untolerated taint(s)" };
  const found = preemption(node("a", "chosen", [0, 1]), taint, { ...taint, node: "y" }, node("z", "notTried"));
  expect(stepsOf(found).map((step) => step.kind)).toEqual(["setup", "node", "result", "targets"]);
  expect(otherNodes(found).map((group) => [group.outcome, group.nodes])).toEqual([["notHelpful", ["x", "y"]], ["notTried", ["z"]]]);
});

test("that a node is chosen is known at the last step, that one is lost at the rule that it loses by", () => {
  const found = preemption(node("a", "chosen", [0, 1]), node("b", "lost", [1, 1]), node("c", "doesNotFit", [0, 2]));
  const steps = stepsOf(found);
  const kinds = found.nodes.map((one) => steps[outcomeAt(steps, one)]?.kind);
  expect(kinds).toEqual(["targets", "rule", "result"]);
});
