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
const RELEASES = { kueue: ["kueue"], kubernetes: ["kueue", "kube"], yunikorn: ["yunikorn"] } as const;

type Named<W> = W extends `switch.${infer Name}` ? (`help.${Name}` extends Word ? Name : never) : never;
/** Return the switches of a section: words and path are by the name of the field. */
const of = (section: string, ...names: readonly Named<Word>[]): Switch[] =>
  names.map((name) => ({ path: `${section}.${name}`, word: `switch.${name}`, help: `help.${name}` }));

export const GROUPS: readonly SwitchGroup[] = [
  { word: "group.between", source: "source.kueue", part: "scheduling", stacks: ["kueue"], switches: [] },
  { word: "group.ready", source: "source.kueue", part: "scheduling", stacks: ["kueue"], switches: of("kueue.waitForPodsReady", "timeout", "blockAdmission") },
  {
    word: "group.usage", source: "source.kueue", part: "scheduling", stacks: ["kueue"],
    switches: of("kueue.admissionFairSharing", "usageHalfLifeTime", "usageSamplingInterval"),
  },
  {
    word: "group.gates", source: "source.kueue", part: "scheduling", stacks: ["kueue"],
    switches: [
      ...of("kueue.featureGates", "ElasticJobsViaWorkloadSlices", "ConcurrentAdmission", "PriorityBoost", "MultiKueueOrchestratedPreemption"),
      ...of("kueue.objectRetentionPolicies.workloads", "afterFinished", "afterDeactivatedByKueue"),
    ],
  },
  {
    word: "group.release", source: "source.release", part: "scheduling", stacks: ALL,
    switches: (["kueue", "kubernetes", "yunikorn"] as const).map((name) => ({ path: `release.${name}`, word: `switch.release.${name}`, help: "help.release", stacks: RELEASES[name] })),
  },
  {
    word: "group.yunikorn", source: "source.yunikorn", part: "scheduling", stacks: ["yunikorn"],
    switches: of("yunikorn", "laws").map((one) => ({ ...one, family: "laws" })),
  },
  {
    word: "group.simulation", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: of("simulation", "tickMs", "defaultRuntime", "runTimesFrom", "podStartMs", "bindLatencyMs", "binding", "locking"),
  },
  {
    word: "group.failures", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: [
      ...of("simulation", "checkpointEvery", "restartTakes"),
      ...of("simulation.failures", "meanTimeBetween", "repair", "domain", "domainMeanTimeBetween", "domainRepair"),
    ],
  },
  {
    word: "group.autoscaler", source: "source.simulation", part: "simulation", stacks: ALL,
    switches: of("simulation.autoscaler", "scanInterval", "expanders", "balanceSimilarNodeGroups", "maxNodeProvisionTime", "scaleDown", "scaleDownDelayAfterAdd", "maxEmptyAtOnce", "maxDrainedAtOnce"),
  },
  {
    word: "group.latencies", source: "source.latencies", part: "simulation", stacks: ALL,
    switches: LATENCIES.map((name): Switch => ({ path: `simulation.latencies.${name}`, word: `latency.${name}`, help: `latency.${name}.help` })),
  },
  { word: "group.checks", source: "source.checks", part: "simulation", stacks: ["kueue"], switches: [] },
  { word: "group.extenders", source: "source.extenders", part: "simulation", stacks: ["kueue", "kube"], switches: of("simulation", "extenderLatencyMs") },
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
