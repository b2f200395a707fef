// The switches of a policy: where each stands in the document, and its words. What it may be is in the schema that the server gives.

import type { Word } from "@/lib/words.svelte";

export interface Switch {
  readonly path: string; // below spec
  readonly word: Word;
  readonly help: Word;
  readonly family?: string; // the registry's, when choices come from there
  readonly stacks?: readonly string[]; // those that have it; all of its group
}

export const PARTS = ["scheduling", "simulation", "document", "glossary"] as const;
export type Part = (typeof PARTS)[number];

export interface SwitchGroup {
  readonly word: Word;
  readonly source: Word;
  readonly part: Part;
  readonly stacks: readonly string[];
  readonly switches: readonly Switch[];
}

const ALL = ["kueue", "yunikorn", "kube"] as const;
const LATENCIES = ["workloadCreation", "schedulingCycle", "admission", "reactivation", "jobStart", "podStart", "readiness", "completion", "suspension", "termination", "release"] as const;

export const GROUPS: readonly SwitchGroup[] = [
  { word: "group.between", source: "source.kueue", part: "scheduling", stacks: ["kueue"], switches: [] },
  {
    word: "group.ready", source: "source.kueue", part: "scheduling", stacks: ["kueue"],
    switches: [
      { path: "kueue.waitForPodsReady.timeout", word: "switch.timeout", help: "help.timeout" },
      { path: "kueue.waitForPodsReady.blockAdmission", word: "switch.block", help: "help.block" },
    ],
  },
  {
    word: "group.usage", source: "source.kueue", part: "scheduling", stacks: ["kueue"],
    switches: [
      { path: "kueue.admissionFairSharing.usageHalfLifeTime", word: "switch.halfLife", help: "help.halfLife" },
      { path: "kueue.admissionFairSharing.usageSamplingInterval", word: "switch.sampling", help: "help.sampling" },
    ],
  },
  {
    word: "group.gates", source: "source.kueue", part: "scheduling", stacks: ["kueue"],
    switches: [
      { path: "kueue.featureGates.ElasticJobsViaWorkloadSlices", word: "switch.elastic", help: "help.elastic" },
      { path: "kueue.featureGates.ConcurrentAdmission", word: "switch.concurrent", help: "help.concurrent" },
      { path: "kueue.featureGates.PriorityBoost", word: "switch.boost", help: "help.boost" },
      { path: "kueue.featureGates.MultiKueueOrchestratedPreemption", word: "switch.gates", help: "help.gates" },
      { path: "kueue.objectRetentionPolicies.workloads.afterFinished", word: "switch.retention", help: "help.retention" },
      { path: "kueue.objectRetentionPolicies.workloads.afterDeactivatedByKueue", word: "switch.retired", help: "help.retired" },
    ],
  },
  {
    word: "group.release", source: "source.release", part: "scheduling", stacks: ALL,
    switches: [
      { path: "release.kueue", word: "switch.release.kueue", help: "help.release", stacks: ["kueue"] },
      { path: "release.kubernetes", word: "switch.release.kubernetes", help: "help.release", stacks: ["kueue", "kube"] },
      { path: "release.yunikorn", word: "switch.release.yunikorn", help: "help.release", stacks: ["yunikorn"] },
    ],
  },
  {
    word: "group.yunikorn", source: "source.yunikorn", part: "scheduling", stacks: ["yunikorn"],
    switches: [
      { path: "yunikorn.laws", word: "switch.laws", help: "help.laws", family: "laws" },
    ],
  },
  {
    word: "group.simulation", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: [
      { path: "simulation.tickMs", word: "switch.tickMs", help: "help.tickMs" },
      { path: "simulation.defaultRuntime", word: "switch.runtime", help: "help.runtime" },
      { path: "simulation.runTimesFrom", word: "switch.runTimesFrom", help: "help.runTimesFrom" },
      { path: "simulation.podStartMs", word: "switch.podStart", help: "help.podStart" },
      { path: "simulation.bindLatencyMs", word: "switch.bind", help: "help.bind" },
      { path: "simulation.binding", word: "switch.binding", help: "help.binding" },
      { path: "simulation.locking", word: "switch.locking", help: "help.locking" },
    ],
  },
  {
    word: "group.failures", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: [
      { path: "simulation.checkpointEvery", word: "switch.checkpoint", help: "help.checkpoint" },
      { path: "simulation.restartTakes", word: "switch.restart", help: "help.restart" },
      { path: "simulation.failures.meanTimeBetween", word: "switch.failures", help: "help.failures" },
      { path: "simulation.failures.repair", word: "switch.repair", help: "help.repair" },
      { path: "simulation.failures.domain", word: "switch.failureDomain", help: "help.failureDomain" },
      { path: "simulation.failures.domainMeanTimeBetween", word: "switch.domainFailures", help: "help.domainFailures" },
      { path: "simulation.failures.domainRepair", word: "switch.domainRepair", help: "help.domainRepair" },
    ],
  },
  {
    word: "group.autoscaler", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: [
      { path: "simulation.autoscaler.scanInterval", word: "switch.scanInterval", help: "help.scanInterval" },
      { path: "simulation.autoscaler.expanders", word: "switch.expanders", help: "help.expanders" },
      { path: "simulation.autoscaler.balanceSimilarNodeGroups", word: "switch.balance", help: "help.balance" },
      { path: "simulation.autoscaler.maxNodeProvisionTime", word: "switch.provision", help: "help.provision" },
      { path: "simulation.autoscaler.scaleDown", word: "switch.scaleDown", help: "help.scaleDown" },
      { path: "simulation.autoscaler.scaleDownDelayAfterAdd", word: "switch.scaleDownDelay", help: "help.scaleDownDelay" },
      { path: "simulation.autoscaler.maxEmptyAtOnce", word: "switch.maxEmpty", help: "help.maxEmpty" },
      { path: "simulation.autoscaler.maxDrainedAtOnce", word: "switch.maxDrained", help: "help.maxDrained" },
    ],
  },
  {
    word: "group.latencies", source: "source.latencies", part: "simulation", stacks: ALL,
    switches: LATENCIES.map((name): Switch => ({ path: `simulation.latencies.${name}`, word: `latency.${name}`, help: `latency.${name}.help` })),
  },
  { word: "group.checks", source: "source.checks", part: "simulation", stacks: ["kueue"], switches: [] },
  {
    word: "group.extenders", source: "source.extenders", part: "simulation", stacks: ["kueue", "kube"],
    switches: [
      { path: "simulation.extenderLatencyMs", word: "switch.extenders", help: "help.extenders" },
    ],
  },
];

/** Return the groups of a stack, each with the switches that this stack has. */
export function groupsOf(stack: string): SwitchGroup[] {
  const has = (stacks: readonly string[]): boolean => stacks.includes(stack);
  return GROUPS.filter((group) => has(group.stacks)).map((group) => ({ ...group, switches: group.switches.filter((one) => has(one.stacks ?? ALL)) }));
}

/** Return the group that has a setting of the policy, by the setting's path. */
export function groupOf(path: string): SwitchGroup | undefined {
  const word = path.startsWith("kueue.fairSharing") ? "group.between" : path.startsWith("simulation.proposal") ? "group.release" : undefined;
  if (word !== undefined) return GROUPS.find((group) => group.word === word);
  return GROUPS.find((group) => group.switches.some((one) => one.path === path));
}

/** Return the part of the page that has it. */
export const partOf = (path: string): Part => groupOf(path)?.part ?? "scheduling";
