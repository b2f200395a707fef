// What a step of a pod's preemption says, in the reader's language.

import { asks, quantity } from "@/lib/amounts";
import { formatNumber, t, type Word } from "@/lib/words.svelte";
import type { Amount, PodPreemption, TriedNode, TriedPod } from "@/protocol/types";
import type { NodeStep } from "@/store/explain/nodeSteps";
import { displayNameOf } from "@/store/live/displayNames";

const RULES: Readonly<Record<string, Word>> = {
  violations: "evict.rule.violations",
  highestPriority: "evict.rule.highestPriority",
  prioritySum: "evict.rule.prioritySum",
  victims: "evict.rule.victims",
  latestStart: "evict.rule.latestStart",
  optedOut: "evict.rule.optedOut",
  originators: "evict.rule.originators",
  draw: "evict.rule.draw",
  order: "evict.rule.order",
};
const OUTCOMES: Readonly<Record<string, Word>> = {
  chosen: "evict.outcome.chosen",
  doesNotFit: "evict.outcome.doesNotFit",
  noCandidates: "evict.outcome.noCandidates",
  notHelpful: "evict.outcome.notHelpful",
  notTried: "evict.outcome.notTried",
  refused: "evict.outcome.refused",
};
const VERDICTS: Readonly<Record<string, Word>> = {
  removed: "evict.removed",
  spared: "evict.spared",
  needed: "evict.needed",
  taken: "evict.taken",
  noHelp: "evict.noHelp",
  withinGuarantee: "evict.withinGuarantee",
  overAskGuarantee: "evict.overAskGuarantee",
};
const SOURCES: Readonly<Record<string, Word>> = {
  own: "evict.source.own",
  outOfScope: "evict.source.outOfScope",
  disabled: "evict.source.disabled",
  none: "evict.source.none",
};
const said = (words: Readonly<Record<string, Word>>, name: string): string => (words[name] === undefined ? name : t(words[name]));

export const ruleText = (rule: string): string => said(RULES, rule);
export const verdictText = (pod: TriedPod): string => said(VERDICTS, pod.verdict);
export const sourceText = (why: string): string => said(SOURCES, why);

/** Return what became of a node: chosen, or why not. */
export function outcomeText(node: { readonly outcome: string; readonly lostBy?: string }): string {
  return node.outcome === "lost" ? t("evict.outcome.lost", { rule: ruleText(node.lostBy ?? "") }) : said(OUTCOMES, node.outcome);
}

/** Return what a rule counts, as people read it: a start counts the later the better. */
export function costText(rule: string, value: number): string {
  if (rule === "prioritySum") return sumText(value);
  return rule === "latestStart" ? t("evict.startedAt", { s: formatNumber(-value / 1000, 1) }) : formatNumber(value);
}

const SHIFT = 2 ** 31; // added to each priority, which makes all of them positive

function sumText(value: number): string {
  const pods = Math.max(1, Math.round(value / SHIFT));
  return `${formatNumber(value - pods * SHIFT)} + ${pods === 1 ? "" : `${formatNumber(pods)} × `}2³¹`;
}

/** Return amounts without pods, joined. */
export function amountsText(amounts: readonly Amount[]): string {
  return amounts.filter((one) => one.resource !== "pods").map((one) => quantity(one.resource, one.amount)).join(", ");
}

/** Return the amount that says most of what a pod holds. */
export function heldText(amounts: readonly Amount[], resource: string): string {
  const one = amounts.find((item) => item.resource === resource) ?? amounts[0];
  return one === undefined ? "" : asks(1, { [one.resource]: one.amount }, one.resource);
}

const names = (keys: readonly string[]): string => keys.map(displayNameOf).join(", ");

/** Return the headline of a step. */
export function titleOf(step: NodeStep): string {
  switch (step.kind) {
    case "setup":
      return t("evict.setup");
    case "node":
      return t("evict.node", { node: step.node.node });
    case "pod":
      return step.pod.kind === "putBack" ? t("evict.putBack", { name: displayNameOf(step.pod.pod) }) : displayNameOf(step.pod.pod);
    case "result":
      return t("evict.result", { node: step.node.node });
    case "rule":
      return ruleText(step.rule);
    case "draw":
      return t("evict.equal");
    case "targets":
      return t("evict.targets");
  }
}

/** Return the sentence of a step, with its numbers. */
export function sentenceOf(step: NodeStep, found: PodPreemption): string {
  switch (step.kind) {
    case "setup":
      return setup(found);
    case "node":
      return found.scheduler === "YuniKorn"
        ? t("evict.tries", { missing: amountsText(step.node.missing) || "0" })
        : t("evict.dryRun");
    case "pod":
      return podSentence(step.pod);
    case "result":
      return resultSentence(step.node);
    case "rule":
      return step.out.length === 0
        ? t("evict.allEqual", { value: costText(step.rule, step.value) })
        : t("evict.lowest", { value: costText(step.rule, step.value), left: step.left.join(", "), out: step.out.join(", ") });
    case "draw":
      return t(found.scheduler === "YuniKorn" ? "evict.first" : "evict.drawn", { left: step.left.join(", "), node: found.node });
    case "targets":
      return t("evict.leave", { names: names(found.targets.map((one) => one.workload)), node: found.node, name: displayNameOf(found.preemptor) });
  }
}

function setup(found: PodPreemption): string {
  const amount = amountsText(found.requests);
  if (found.strategy === "RequiredNode") return t("evict.needsNode", { amount, node: found.node });
  if (found.scheduler === "YuniKorn") return t("evict.needsQueue", { amount, queue: found.queue });
  const helped = found.nodes.filter((node) => node.outcome !== "notHelpful").length;
  return t("evict.needsRoom", { amount, n: helped, all: found.totalNodes, priority: found.priority, wanted: found.wanted ?? 0 });
}

function podSentence(pod: TriedPod): string {
  const budget = pod.budgets.length === 0 ? "" : ` ${t("evict.budget", { budgets: pod.budgets.join(", ") })}`;
  const held = amountsText(pod.held);
  switch (pod.verdict) {
    case "removed":
      return t("evict.said.removed", { held }) + budget;
    case "spared":
      return pod.kind === "putBack" ? t("evict.said.spared") : t("evict.said.enough");
    case "needed":
      return t("evict.said.needed", { why: pod.why }) + budget;
    case "taken":
      return t("evict.said.taken", { held });
    case "withinGuarantee":
      return t("evict.said.withinGuarantee", { queue: pod.queue });
    case "overAskGuarantee":
      return t("evict.said.overAskGuarantee");
    default:
      return t("evict.said.noHelp");
  }
}

function resultSentence(node: TriedNode): string {
  const why = node.why === "" ? "" : ` (${node.why})`;
  if (node.victims.length === 0) return `${outcomeText(node)}${why}`;
  return t("evict.goes", { n: node.victims.length, names: names(node.victims) });
}
