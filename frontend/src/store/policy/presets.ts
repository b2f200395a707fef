// Policies by their intent: what each sets, whether it holds, and the one edit that sets it.

import { record, type Json } from "@/net/rest";
import { t, type Word } from "@/lib/words.svelte";
import type { ClusterQueueRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";
import type { Part } from "@/store/edits/changes";
import { change } from "@/store/edits/whatIf.svelte";
import { fairSharingOf, fairSharingPatch, type FairSharing } from "@/store/policy/fairSharing";

export interface Preset {
  readonly id: "strict" | "reclaim" | "gentle";
  readonly word: Word;
  readonly help: Word;
  readonly sharing: FairSharing;
  readonly strategy: string;
  readonly within: string;
  readonly reclaim: string;
}

export const PRESETS: readonly Preset[] = [
  { id: "strict", word: "preset.strict", help: "preset.strict.help", sharing: "classical", strategy: "StrictFIFO", within: "Never", reclaim: "Never" },
  { id: "reclaim", word: "preset.reclaim", help: "preset.reclaim.help", sharing: "classical", strategy: "BestEffortFIFO", within: "LowerPriority", reclaim: "Any" },
  { id: "gentle", word: "preset.gentle", help: "preset.gentle.help", sharing: "final", strategy: "BestEffortFIFO", within: "LowerPriority", reclaim: "Any" },
];

/** Return whether a policy and its ClusterQueues are as a preset sets them. */
export function holds(preset: Preset, document: unknown, queues: readonly ClusterQueueRow[]): boolean {
  return fairSharingOf(document) === preset.sharing && queues.every((row) => changesOf(preset, row).length === 0);
}

/** Return what a preset changes of a ClusterQueue, as [field, before, after]. */
export function changesOf(preset: Preset, row: ClusterQueueRow): (readonly [string, string, string])[] {
  const all = [
    ["queueingStrategy", row.queueingStrategy, preset.strategy],
    ["withinClusterQueue", row.withinClusterQueue, preset.within],
    ["reclaimWithinCohort", row.reclaimWithinCohort, preset.reclaim],
    ["borrowWithinCohort", row.borrowWithinCohort, "Never"],
  ] as const;
  return all.filter(([, before, after]) => before !== after);
}

/** Return a ClusterQueue's manifest as a preset has it. */
export function withPreset(manifest: Json, preset: Preset): Json {
  const { apiVersion, kind, metadata } = manifest;
  const spec = record(manifest["spec"]);
  const preemption = {
    ...record(spec["preemption"] ?? {}),
    withinClusterQueue: preset.within,
    reclaimWithinCohort: preset.reclaim,
    borrowWithinCohort: { policy: "Never" },
  };
  return { apiVersion, kind, metadata, spec: { ...spec, queueingStrategy: preset.strategy, preemption } };
}

/** Set the policy and every ClusterQueue as a preset has them, as one change of the what-if. */
export function applyPreset(preset: Preset, document: unknown): Promise<boolean> {
  const before = fairSharingOf(document);
  const queues = live.shown.all("ClusterQueue");
  const sharing: Part[] = before === preset.sharing ? [] : [{ policy: { spec: fairSharingPatch(document, preset.sharing) } }];
  const parts = queues.filter((row) => changesOf(preset, row).length > 0).map((row): Part => ({
    patch: { kind: "ClusterQueue", namespace: "", name: row.name, body: { spec: record(withPreset({ spec: {} }, preset)["spec"]) } },
  }));
  if (sharing.length + parts.length === 0) return Promise.resolve(false);
  return change(linesOf(preset, before, queues), [...sharing, ...parts]);
}

function linesOf(preset: Preset, before: FairSharing, queues: readonly ClusterQueueRow[]): string[] {
  const sharing = before === preset.sharing ? [] : [`${t("switch.fair")}: ${t(`fair.${before}`)} → ${t(`fair.${preset.sharing}`)}`];
  const lines = queues.flatMap((row) => {
    const changes = changesOf(preset, row).map(([field, from, to]) => `${field} ${from} → ${to}`);
    return changes.length === 0 ? [] : [`${row.name}: ${changes.join(", ")}`];
  });
  return [...sharing, ...lines];
}
