// "Last Tuesday with another policy": a window of a twin, replayed, in one sentence.

import { span } from "@/lib/times";
import { formatNumber, t } from "@/lib/words.svelte";
import { ask, record } from "@/net/rest";
import type { ClusterQueueRow, IncidentReplay } from "@/protocol/types";
import { fairSharingPatch } from "@/store/policy/fairSharing";
import { changesOf, withPreset, type Preset } from "@/store/policy/presets";

const LEAST_MS = 1000; // as the server: means that differ by less are equal
const MOST_NAMED = 2;
const MOST_MS = 90_000;

/** Replay a window with a preset in force; the server stops after 60 s. */
export function replayIncident(sandbox: string, from: number, to: number, preset: Preset, queues: readonly ClusterQueueRow[], stop: AbortSignal): Promise<IncidentReplay> {
  const body = { fromTick: from, toTick: to, edits: editsOf(preset, queues), seconds: 60 };
  return ask("IncidentReplay", "POST", `/sandboxes/${sandbox}/incident`, { body, signal: AbortSignal.any([stop, AbortSignal.timeout(MOST_MS)]) });
}

/** Return what a preset changes, as merge patches: of the policy, and of each ClusterQueue that differs. */
export function editsOf(preset: Preset, queues: readonly ClusterQueueRow[]): { kind: string; namespace: string; name: string; patch: Record<string, unknown> }[] {
  const policy = { kind: "Policy", namespace: "", name: "policy", patch: { spec: fairSharingPatch({}, preset.sharing) } };
  const changed = queues.filter((row) => changesOf(preset, row).length > 0);
  const spec = (): unknown => record(withPreset({ spec: {} }, preset)["spec"]);
  return [policy, ...changed.map((row) => ({ kind: "ClusterQueue", namespace: "", name: row.name, patch: { spec: spec() } }))];
}

/** Return "research would have waited 40 min less, 3 preemptions more". */
export function incidentSentence({ same, changed }: Pick<IncidentReplay, "same" | "changed">): string {
  const before = new Map(same.queues.map((one) => [one.queue, one.waitMs]));
  const moved = changed.queues
    .map((one) => ({ queue: one.queue, ms: one.waitMs - (before.get(one.queue) ?? one.waitMs) }))
    .filter((one) => Math.abs(one.ms) >= LEAST_MS)
    .sort((a, b) => Math.abs(b.ms) - Math.abs(a.ms))
    .slice(0, MOST_NAMED)
    .map(({ queue, ms }) => t(ms < 0 ? "incident.less" : "incident.more", { queue, time: span(Math.abs(ms)) }));
  const more = changed.preemptions - same.preemptions;
  if (more !== 0) moved.push(t(more > 0 ? "incident.preemptionsMore" : "incident.preemptionsFewer", { n: Math.abs(more) }));
  return moved.join(t("incident.comma")) || t("incident.same");
}

/** Return how near the replay under the real policy comes to what was. */
export function nearSentence(found: IncidentReplay): string {
  const [middle, far] = found.startErrorMs;
  if (middle === undefined || far === undefined) return t("incident.nobody");
  return t("incident.near", { middle: span(middle), far: span(far), real: formatNumber(found.real.preemptions), same: formatNumber(found.same.preemptions) });
}
