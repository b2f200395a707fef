// A preemption of pods as steps one can walk: nodes, their pods, the rules, the victims; pure.

import type { PodPreemption, TriedNode, TriedPod } from "@/protocol/types";

export type NodeStep =
  | { readonly kind: "setup" | "targets" }
  | { readonly kind: "node" | "result"; readonly node: TriedNode }
  | { readonly kind: "pod"; readonly node: TriedNode; readonly pod: TriedPod }
  | { readonly kind: "rule"; readonly rule: string; readonly value: number; readonly left: readonly string[]; readonly out: readonly string[] }
  | { readonly kind: "draw"; readonly left: readonly string[] };

/** Return the nodes that were really tried: those with pods looked at, or with victims. */
export function triedNodes(found: PodPreemption): readonly TriedNode[] {
  return found.nodes.filter((node) => node.pods.length > 0 || node.victims.length > 0);
}

/** Return the nodes that were not tried, by what became of them and in whose words. */
export function otherNodes(found: PodPreemption): { outcome: string; why: string; nodes: string[] }[] {
  const groups = new Map<string, { outcome: string; why: string; nodes: string[] }>();
  for (const node of found.nodes) {
    if (node.pods.length > 0 || node.victims.length > 0) continue;
    const id = `${node.outcome} ${node.why}`;
    const group = groups.get(id) ?? { outcome: node.outcome, why: node.why, nodes: [] };
    group.nodes.push(node.node);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** Return the steps: each node with its pods and result, each rule that still decides, the victims. */
export function stepsOf(found: PodPreemption): NodeStep[] {
  const nodes = triedNodes(found).flatMap((node): NodeStep[] => [
    { kind: "node", node },
    ...node.pods.map((pod): NodeStep => ({ kind: "pod", node, pod })),
    { kind: "result", node },
  ]);
  return [{ kind: "setup" }, ...nodes, ...comparison(found), { kind: "targets" }];
}

/** Return the step at which it is known what became of a node: who is chosen is known at the end alone. */
export function outcomeAt(steps: readonly NodeStep[], node: TriedNode): number {
  const at = steps.findIndex((step) => {
    if (node.outcome === "chosen") return step.kind === "targets";
    if (node.outcome === "lost") return step.kind === "targets" || (step.kind === "rule" && step.out.includes(node.node));
    return step.kind === "result" && step.node === node;
  });
  return at < 0 ? steps.length - 1 : at;
}

// Rule after rule the nodes that cost least stay; what is equal in all of them is drawn, or the first one.
function comparison(found: PodPreemption): NodeStep[] {
  let left = found.nodes.filter((node) => node.outcome === "chosen" || node.outcome === "lost");
  const steps: NodeStep[] = [];
  for (const rule of found.rules) {
    if (left.length < 2) break;
    const value = Math.min(...left.map((node) => costOf(node, rule)));
    const kept = left.filter((node) => costOf(node, rule) === value);
    const out = left.filter((node) => !kept.includes(node)).map((node) => node.node);
    steps.push({ kind: "rule", rule, value, left: kept.map((node) => node.node), out });
    left = kept;
  }
  if (left.length > 1) steps.push({ kind: "draw", left: left.map((node) => node.node) });
  return steps;
}

/** Return what a rule counts for a node; 0 where it counts nothing. */
export function costOf(node: TriedNode, rule: string): number {
  return node.costs.find((cost) => cost.rule === rule)?.value ?? 0;
}
