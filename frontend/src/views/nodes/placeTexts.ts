// Where a pod could go and why not, in the reader's language.
// A code that is not known here is said in the server's own words.

import { quantity } from "@/lib/amounts";
import { clock } from "@/lib/times";
import { formatNumber, t, tOr } from "@/lib/words.svelte";
import type { AskExplanation, Asked, Check, GrowthRefusal, NodeVerdict, Plan, PodExplanation, PodRow } from "@/protocol/types";
import { displayNameOf } from "@/store/live/displayNames";

const MS = 1000;
const percent = (share: number): string => `${formatNumber(100 * share)}\u00a0%`;
const seconds = (ms: number): string => formatNumber(ms / MS, 1);

/** Return where a pod is that is assumed on a node and not bound, and how long it may wait at Permit. */
export function heldText(pod: PodRow): string {
  if (pod.permitUntilMs === null) return t("pod.assumed", { node: pod.heldOn });
  return t("pod.permit", { node: pod.heldOn, plugin: pod.permitBy, until: clock(pod.permitUntilMs) });
}

/** Return where a pod could go, in a few sentences. */
export function placeText(table: PodExplanation | AskExplanation): string[] {
  return "path" in table ? ofAsk(table) : ofPod(table);
}

function ofPod(table: PodExplanation): string[] {
  if (table.problem !== "") return [t("place.problem", { problem: table.problem }), ...growthText(table.growth)];
  const n = table.totalNodes;
  if (table.feasible === 0) {
    const reasons = Object.entries(table.counts).map(([reason, nodes]) => t("place.reason", { n: nodes, reason }));
    return [t("place.none", { n }), ...reasons, ...growthText(table.growth)];
  }
  const total = table.nodes.find((row) => row.fits)?.total ?? 0;
  const best = t("place.best", { n, feasible: table.feasible, best: table.best.join(", "), total });
  if (table.node !== "") return [best, t("place.on", { node: table.node })];
  return table.queue === "unschedulable" || table.queue === "backoff" ? [t(`place.${table.queue}`), best] : [best];
}

function growthText(growth: readonly GrowthRefusal[]): string[] {
  const able = growth.filter((one) => one.reason === "");
  if (able.length > 0) return [t("place.mayGrow", { names: able.map((one) => one.name).join(", ") })];
  return growth.map((one) => t("place.noGrowth", { kind: one.kind, name: one.name, reason: refusalText(one) }));
}

/** Return why a group or pool does not grow; "" where it may. */
export function refusalText({ code, reason }: GrowthRefusal): string {
  return tOr(`place.growth.${code}`, reason);
}

function ofAsk(table: AskExplanation): string[] {
  const optedOut = table.allowPreemptSelf ? [] : [t("place.optedOut")];
  if (table.node !== "") return [onNode(table), ...optedOut];
  const failed = table.checks.filter((check) => !check.holds);
  return [
    ...(table.reservedOn === "" ? [] : [t("place.reserved", { node: table.reservedOn })]),
    ...failed.map((check) => failedText(check, table)),
    t("place.takes", { n: table.nodes, feasible: table.feasibleNodes }),
    ...table.plans.map(planText),
    ...(table.lawsDiffer ? [t("place.differ")] : []),
  ];
}

function onNode(table: AskExplanation): string {
  const found = table.nodeVerdicts.find((one) => one.node === table.node);
  if (found === undefined || found.shares.length === 0) return t("place.on", { node: table.node });
  const parts = found.shares.map((one) => t("place.used.part", { share: percent(one.share), resource: one.resource, weight: formatNumber(one.weight, 2) }));
  return t("place.used", { node: table.node, used: percent(found.used), parts: parts.join(", ") });
}

function failedText(check: Check, table: AskExplanation): string {
  return tOr(`place.failed.${check.name}`, `${check.name}: ${check.detail}`, { detail: checkText(check, table) });
}

/** Return what a condition looked at, with its numbers. */
export function checkText(check: Check, table: AskExplanation): string {
  switch (check.name) {
    case "application":
      return t("place.check.application", { state: table.applicationState });
    case "queueQuota":
    case "userQuota": {
      if (check.asked.length === 0) return t("place.check.unlimited");
      const word = `place.check.${check.name}` as const;
      const amount = (one: Asked, field: "amount" | "left" | "most"): string => quantity(one.resource, one[field]);
      return check.asked.map((one) => t(word, { ...one, asked: amount(one, "amount"), left: amount(one, "left"), most: amount(one, "most") })).join("; ");
    }
    case "delay":
      return t("place.check.delay", { ready: seconds(check.notBeforeMs ?? 0), now: seconds(table.atMs) });
    case "preemption":
    case "mayPreempt":
    case "first":
      return t(`place.check.${check.name}`);
    default:
      return check.detail;
  }
}

/** Return why a node does not take an ask; "" when it does. */
export function verdictText({ code, names, verdict }: NodeVerdict): string {
  return tOr(`place.node.${code}`, verdict, { names: names.join(", ") });
}

function planText(plan: Plan): string {
  const laws = plan.inForce ? `${plan.laws} (${t("ask.inForce")})` : plan.laws;
  if (plan.victims.length > 0) return t("place.plan", { laws, names: plan.victims.map((one) => displayNameOf(one.workload)).join(", "), node: plan.node });
  return plan.reason === "" ? t("place.plan.nobody", { laws }) : t("place.plan.why", { laws, reason: plan.reason });
}
