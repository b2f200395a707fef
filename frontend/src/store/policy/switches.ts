// The switches of a policy: where each stands in the document and what it may be.

import type { Word } from "@/lib/words.svelte";

export interface Switch {
  readonly path: string; // below spec
  readonly word: Word;
  readonly help: Word;
  readonly kind: "choice" | "flag" | "text" | "list" | "integer";
  readonly choices?: readonly string[];
  readonly family?: string; // the registry's, when choices come from there
  readonly first?: unknown; // what holds when the document is silent
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

export const GROUPS: readonly SwitchGroup[] = [
  {
    word: "group.between",
    source: "source.kueue",
    part: "scheduling",
    stacks: ["kueue"],
    switches: [],
  },
  {
    word: "group.ready",
    source: "source.kueue",
    part: "scheduling",
    stacks: ["kueue"],
    switches: [
      { path: "kueue.waitForPodsReady.timeout", word: "switch.timeout", help: "help.timeout", kind: "text", first: "5m" },
      { path: "kueue.waitForPodsReady.blockAdmission", word: "switch.block", help: "help.block", kind: "flag", first: false },
    ],
  },
  {
    word: "group.usage",
    source: "source.kueue",
    part: "scheduling",
    stacks: ["kueue"],
    switches: [
      { path: "kueue.admissionFairSharing.usageHalfLifeTime", word: "switch.halfLife", help: "help.halfLife", kind: "text", first: "" },
      { path: "kueue.admissionFairSharing.usageSamplingInterval", word: "switch.sampling", help: "help.sampling", kind: "text", first: "" },
    ],
  },
  {
    word: "group.gates",
    source: "source.kueue",
    part: "scheduling",
    stacks: ["kueue"],
    switches: [
      { path: "kueue.featureGates.ElasticJobsViaWorkloadSlices", word: "switch.elastic", help: "help.elastic", kind: "flag", first: true },
      { path: "kueue.featureGates.ConcurrentAdmission", word: "switch.concurrent", help: "help.concurrent", kind: "flag", first: false },
      { path: "kueue.featureGates.PriorityBoost", word: "switch.boost", help: "help.boost", kind: "flag", first: false },
      { path: "kueue.featureGates.MultiKueueOrchestratedPreemption", word: "switch.gates", help: "help.gates", kind: "flag", first: false },
      { path: "kueue.objectRetentionPolicies.workloads.afterFinished", word: "switch.retention", help: "help.retention", kind: "text", first: "" },
      { path: "kueue.objectRetentionPolicies.workloads.afterDeactivatedByKueue", word: "switch.retired", help: "help.retired", kind: "text", first: "" },
    ],
  },
  {
    word: "group.release",
    source: "source.release",
    part: "scheduling",
    stacks: ALL,
    switches: [
      { path: "release.kueue", word: "switch.release.kueue", help: "help.release", kind: "text", first: "main", stacks: ["kueue"] },
      { path: "release.kubernetes", word: "switch.release.kubernetes", help: "help.release", kind: "text", first: "", stacks: ["kueue", "kube"] },
      { path: "release.yunikorn", word: "switch.release.yunikorn", help: "help.release", kind: "text", first: "", stacks: ["yunikorn"] },
    ],
  },
  {
    word: "group.yunikorn",
    source: "source.yunikorn",
    part: "scheduling",
    stacks: ["yunikorn"],
    switches: [
      {
        path: "yunikorn.laws",
        word: "switch.laws",
        help: "help.laws",
        kind: "choice",
        choices: ["released", "documented"],
        family: "laws",
        first: "released",
      },
    ],
  },
  {
    word: "group.simulation",
    source: "source.simulation",
    part: "simulation",
    stacks: ALL,
    switches: [
      { path: "simulation.tickMs", word: "switch.tickMs", help: "help.tickMs", kind: "integer", first: 1000 },
      { path: "simulation.defaultRuntime", word: "switch.runtime", help: "help.runtime", kind: "text", first: "60s" },
      {
        path: "simulation.runTimesFrom",
        word: "switch.runTimesFrom",
        help: "help.runTimesFrom",
        kind: "choice",
        choices: ["annotations", "sleep", "deadline", "sleep-deadline"],
        first: "annotations",
      },
      { path: "simulation.podStartMs", word: "switch.podStart", help: "help.podStart", kind: "integer", first: 0 },
      { path: "simulation.bindLatencyMs", word: "switch.bind", help: "help.bind", kind: "integer", first: 0 },
      {
        path: "simulation.binding",
        word: "switch.binding",
        help: "help.binding",
        kind: "choice",
        choices: ["kubernetes", "compare-and-set"],
        first: "kubernetes",
      },
      {
        path: "simulation.locking",
        word: "switch.locking",
        help: "help.locking",
        kind: "choice",
        choices: ["optimistic", "pessimistic"],
        first: "optimistic",
      },
    ],
  },
  {
    word: "group.failures",
    source: "source.simulation",
    part: "simulation",
    stacks: ALL,
    switches: [
      { path: "simulation.checkpointEvery", word: "switch.checkpoint", help: "help.checkpoint", kind: "text", first: "never" },
      { path: "simulation.restartTakes", word: "switch.restart", help: "help.restart", kind: "text", first: "0s" },
      { path: "simulation.failures.meanTimeBetween", word: "switch.failures", help: "help.failures", kind: "text", first: "never" },
      { path: "simulation.failures.repair", word: "switch.repair", help: "help.repair", kind: "text", first: "30m" },
      { path: "simulation.failures.domain", word: "switch.failureDomain", help: "help.failureDomain", kind: "text", first: "" },
      { path: "simulation.failures.domainMeanTimeBetween", word: "switch.domainFailures", help: "help.domainFailures", kind: "text", first: "never" },
      { path: "simulation.failures.domainRepair", word: "switch.domainRepair", help: "help.domainRepair", kind: "text", first: "1h" },
    ],
  },
  {
    word: "group.autoscaler",
    source: "source.simulation",
    part: "simulation",
    stacks: ALL,
    switches: [
      { path: "simulation.autoscaler.scanInterval", word: "switch.scanInterval", help: "help.scanInterval", kind: "text", first: "10s" },
      { path: "simulation.autoscaler.expanders", word: "switch.expanders", help: "help.expanders", kind: "list", first: ["least-waste"] },
      { path: "simulation.autoscaler.balanceSimilarNodeGroups", word: "switch.balance", help: "help.balance", kind: "flag", first: false },
      { path: "simulation.autoscaler.maxNodeProvisionTime", word: "switch.provision", help: "help.provision", kind: "text", first: "15m" },
      { path: "simulation.autoscaler.scaleDown", word: "switch.scaleDown", help: "help.scaleDown", kind: "flag", first: true },
      { path: "simulation.autoscaler.scaleDownDelayAfterAdd", word: "switch.scaleDownDelay", help: "help.scaleDownDelay", kind: "text", first: "10m" },
      { path: "simulation.autoscaler.maxEmptyAtOnce", word: "switch.maxEmpty", help: "help.maxEmpty", kind: "integer", first: 10 },
      { path: "simulation.autoscaler.maxDrainedAtOnce", word: "switch.maxDrained", help: "help.maxDrained", kind: "integer", first: 1 },
    ],
  },
  {
    word: "group.latencies",
    source: "source.latencies",
    part: "simulation",
    stacks: ALL,
    switches: [
      {
        path: "simulation.latencies.workloadCreation",
        word: "latency.workloadCreation",
        help: "latency.workloadCreation.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.schedulingCycle",
        word: "latency.schedulingCycle",
        help: "latency.schedulingCycle.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.admission",
        word: "latency.admission",
        help: "latency.admission.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.reactivation",
        word: "latency.reactivation",
        help: "latency.reactivation.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.jobStart",
        word: "latency.jobStart",
        help: "latency.jobStart.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.podStart",
        word: "latency.podStart",
        help: "latency.podStart.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.readiness",
        word: "latency.readiness",
        help: "latency.readiness.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.completion",
        word: "latency.completion",
        help: "latency.completion.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.suspension",
        word: "latency.suspension",
        help: "latency.suspension.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.termination",
        word: "latency.termination",
        help: "latency.termination.help",
        kind: "text",
        first: "0s",
      },
      {
        path: "simulation.latencies.release",
        word: "latency.release",
        help: "latency.release.help",
        kind: "text",
        first: "0s",
      },
    ],
  },
  {
    word: "group.checks",
    source: "source.checks",
    part: "simulation",
    stacks: ["kueue"],
    switches: [],
  },
  {
    word: "group.extenders",
    source: "source.extenders",
    part: "simulation",
    stacks: ["kueue", "kube"],
    switches: [
      { path: "simulation.extenderLatencyMs", word: "switch.extenders", help: "help.extenders", kind: "integer", first: 0 },
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
  if (path.startsWith("kueue.fairSharing") || path.startsWith("simulation.proposal")) return GROUPS.find((group) => group.word === "group.between");
  return GROUPS.find((group) => group.switches.some((one) => one.path === path));
}

/** Return the part of the page that has it. */
export const partOf = (path: string): Part => groupOf(path)?.part ?? "scheduling";
