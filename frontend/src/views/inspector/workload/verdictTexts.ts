// What would let a workload in and what came of it, in the reader's language.
// A kind that is not known here is said in the server's own words.

import { quantity } from "@/lib/amounts";
import { listed } from "@/lib/listed";
import { formatNumber, t } from "@/lib/words.svelte";
import type { ShareChange, Verdict } from "@/protocol/types";
import { displayNameOf } from "@/store/live/displayNames";
import { live } from "@/store/live/live.svelte";
import { shareText } from "@/store/rows/quota";

/** Return the change of a verdict as a condition: "priority is 5". */
export function conditionText(verdict: Verdict): string {
  const { kind, value, finishes } = verdict;
  const queue = verdict.change?.edits[0]?.name ?? "";
  switch (kind) {
    case "wait":
      return finishes.length === 0 ? t("if.wait") : t("if.finishes", { n: finishes.length, names: listed(finishes.map(displayNameOf)) });
    case "active":
      return t("if.active");
    case "stopPolicy":
      return t(verdict.change?.edits[0]?.kind === "LocalQueue" ? "if.stopPolicy.localQueue" : "if.stopPolicy", { queue });
    case "topology":
      return t(value === "preferred" ? "if.topology.preferred" : "if.topology.unconstrained");
    case "nominalQuota":
      return t("if.nominalQuota", { queue, flavor: value, amounts: amountsOf(verdict) });
    case "borrowingLimit":
    case "lendingLimit":
      return t(verdict.amounts.length === 0 ? "if.limit.none" : "if.limit", { field: kind, queue, flavor: value, amounts: amountsOf(verdict) });
    case "priority":
      return t("if.priority", { value });
    case "weight":
      return t("if.weight", { queue, value });
    case "localQueue":
      return localQueueText(verdict);
    case "reclaimWithinCohort":
    case "withinClusterQueue":
    case "borrowWithinCohort":
    case "queueingStrategy":
    case "maxPriorityThreshold":
      return t("if.field", { field: kind, queue, value });
    default:
      return verdict.subject;
  }
}

const amountsOf = ({ amounts }: Verdict): string => listed(amounts.map((one) => quantity(one.resource, one.amount)));

function localQueueText({ change, value }: Verdict): string {
  const namespace = change?.edits[0]?.namespace ?? "";
  const queue = live.shown.get("LocalQueue", `LocalQueue/${namespace}/${value}`)?.clusterQueue ?? "";
  return queue === "" ? t("if.localQueue", { value }) : t("if.localQueue.of", { value, queue });
}

/** Return when it is admitted with nothing changed, in virtual ms; null when it is not, or nobody asked. */
export function unchangedMs(verdicts: readonly Verdict[]): number | null {
  return verdicts.find((one) => one.kind === "wait")?.outcome.atMs ?? null;
}

/** Return what a change comes to: when, at what price, or why not. `natural`: when it is admitted without. */
export function effectText(verdict: Verdict, natural: number | null): string {
  const { tick, ranToMs, podsMessage, reason: why } = verdict.outcome;
  const seconds = (ms: number): string => formatNumber(ms / 1000, 1);
  switch (verdict.verdict) {
    case "unknown":
      return t("if.effect.unknown", { seconds: seconds(ranToMs) });
    case "but":
      return t("if.effect.but", { tick: tick ?? 0, message: podsMessage });
    case "yes":
      return priceText(verdict);
    case "no":
      if (verdict.kind !== "wait" && natural !== null) return t(why === "" ? "if.effect.later" : "if.effect.later.why", { seconds: seconds(natural), why });
      return t(why === "" ? "if.effect.waits" : "if.effect.waits.why", { seconds: seconds(ranToMs), why });
    default:
      return verdict.effect;
  }
}

function priceText({ outcome }: Verdict): string {
  const tick = outcome.tick ?? 0;
  if (outcome.victims.length === 0) return t("if.effect.yes", { tick });
  const names = listed(outcome.victims.map((victim) => displayNameOf(victim.workload)));
  const reasons = listed([...new Set(outcome.victims.map((victim) => victim.reason))].sort());
  const shares = outcome.shares.filter((one) => one.kind === "ClusterQueue" && one.before !== one.after).map(shareChangeText);
  return shares.length === 0 ? t("if.effect.price", { tick, names, reasons }) : t("if.effect.shares", { tick, names, reasons, shares: listed(shares) });
}

// A share of null is that of a borrower of weight 0.
function shareChangeText({ name, before, after }: ShareChange): string {
  return t("if.effect.share", { name, before: shareText(before ?? Infinity), after: shareText(after ?? Infinity) });
}
