// What an experiment may make different here: switches, quota, weights, nodes, arrivals.

import { unitOf } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import type { ClusterQueueRow } from "@/protocol/types";
import type { Choice, Subject } from "@/store/runs/drafting";
import { policyPart } from "@/store/runs/drafting";
import type { Entry } from "@/protocol/types";
import { labelOf } from "@/store/policy/enrolled";
import { at } from "@/store/policy/paths";
import { served } from "@/store/policy/served.svelte";
import { GROUPS, type Switch } from "@/store/policy/switches";

type Json = Readonly<Record<string, unknown>>;

export interface World {
  readonly stack: string;
  readonly policy: unknown; // the document
  readonly registry: readonly Entry[];
  readonly queues: readonly Json[]; // manifests of ClusterQueues
  readonly nodes: readonly Json[];
  readonly rows: readonly ClusterQueueRow[];
}

const MOST_MORE = 8; // nodes that one step may add
const FAIR = "kueue.fairSharing";
const STRATEGIES = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"] as const;
const PREEMPTION = [
  ["withinClusterQueue", "switch.within", ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]],
  ["reclaimWithinCohort", "switch.reclaim", ["Never", "LowerPriority", "Any"]],
] as const;

/** Return every subject of this world, by its id, in the order of the menu. */
export function subjectsOf(world: World): Map<string, Subject> {
  const found = [
    arrivals(),
    ...(world.stack === "kueue" ? [fairSharing(world)] : []),
    ...(world.stack === "yunikorn" ? yunikorn(world) : [scoring(world)]),
    ...switches(world),
    ...world.queues.flatMap((queue) => ofQueue(queue)),
    ...ofNodes(world),
  ];
  return new Map(found.map((subject) => [subject.id, subject]));
}

/** Return a plain value as a text. */
function words(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : otherwise;
}
const plain = (name: string, value: unknown = name): Choice => ({ name, label: name, value });

function arrivals(): Subject {
  return {
    id: "arrivals", label: t("subject.arrivals"), group: t("subject.group.run"), kind: "number", choices: [], now: "1",
    part: (value) => ({ arrivals: Number(value) }), axis: {},
  };
}

function fairSharing(world: World): Subject {
  const choices: Choice[] = [
    { name: "off", label: t("subject.fair.off"), value: null },
    { name: "both", label: STRATEGIES.join(" → "), value: { preemptionStrategies: STRATEGIES } },
    ...STRATEGIES.map((name) => ({ name, label: name, value: { preemptionStrategies: [name] } })),
  ];
  const now = JSON.stringify(at(world.policy, `spec.${FAIR}.preemptionStrategies`) ?? null);
  const chosen = (at(world.policy, `spec.${FAIR}`) ?? null) === null ? "off" : (choices.find((one) => now === JSON.stringify(at(one.value, "preemptionStrategies")))?.name ?? "both");
  return {
    id: `policy:${FAIR}`, label: t("subject.fair"), group: t("subject.group.policy"), kind: "choice", choices, now: chosen,
    // A list is replaced whole, so the keys beside it are taken away first.
    part: (value) => ({ policy: { kueue: { fairSharing: value } } }),
  };
}

function switches(world: World): Subject[] {
  return GROUPS.filter((group) => group.stacks.includes(world.stack))
    .flatMap((group) => group.switches)
    .filter((one) => !one.path.startsWith(FAIR) && one.path !== "simulation.tickMs")
    .map((one) => ofSwitch(one, world));
}

function ofSwitch(one: Switch, world: World): Subject {
  const enrolled = world.registry.filter((strategy) => strategy.family === one.family);
  const input = served.inputOf(one);
  const names = [...new Set([...input.choices, ...enrolled.map((strategy) => strategy.name)])];
  const flags = input.kind === "flag" ? [plain("true", true), plain("false", false)] : [];
  const now = served.valueOf(one, world.policy);
  return {
    id: `policy:${one.path}`,
    label: t(one.word),
    group: t("subject.group.policy"),
    kind: input.kind === "integer" ? "number" : input.kind === "flag" || input.kind === "choice" ? "choice" : "text",
    choices: [...flags, ...names.map((name) => ({ ...plain(name), label: labelOf(enrolled.find((strategy) => strategy.name === name)) || name }))],
    now: typeof now === "string" ? now : JSON.stringify(now),
    part: policyPart(one.path),
    axis: { policy: one.path },
  };
}

// ---- lists in a policy are replaced whole: they are written out from what they are ----

const SCORINGS = ["LeastAllocated", "MostAllocated"] as const;

function scoring(world: World): Subject {
  const found = at(world.policy, "spec.kubeScheduler.profiles");
  const profiles = Array.isArray(found) && found.length > 0 ? (found as Json[]) : [{ schedulerName: "default-scheduler" }];
  return {
    id: "kube:scoring", label: t("subject.scoring"), group: t("subject.group.policy"), kind: "choice",
    choices: SCORINGS.map((name) => plain(name)), now: scoringNow(profiles[0]) || "LeastAllocated",
    part: (value) => ({ policy: { kubeScheduler: { profiles: profiles.map((profile) => scored(profile, value)) } } }),
  };
}

function configsOf(profile: Json | undefined): Json[] {
  const found = profile?.["pluginConfig"];
  return Array.isArray(found) ? (found as Json[]) : [];
}
function scoringNow(profile: Json | undefined): string {
  const fit = configsOf(profile).find((one) => one["name"] === "NodeResourcesFit");
  return words(at(fit, "args.scoringStrategy.type"), "");
}
function scored(profile: Json, type: unknown): Json {
  const configs = configsOf(profile);
  const resources = at(configs.find((one) => one["name"] === "NodeResourcesFit"), "args.scoringStrategy.resources");
  const strategy = { type, ...(resources === undefined ? {} : { resources }) };
  const fit = { name: "NodeResourcesFit", args: { scoringStrategy: strategy } };
  return { ...profile, pluginConfig: [...configs.filter((one) => one["name"] !== "NodeResourcesFit"), fit] };
}

function yunikorn(world: World): Subject[] {
  const partitions = at(world.policy, "spec.yunikorn.queues.partitions");
  if (!Array.isArray(partitions) || partitions.length === 0) return [];
  const all = partitions as Json[];
  const group = t("subject.group.policy");
  const patched = (change: (partition: Json) => Json) => ({ policy: { yunikorn: { queues: { partitions: all.map(change) } } } });
  return [
    {
      id: "yunikorn:nodesort", label: t("subject.nodeSort"), group, kind: "choice", choices: ["fair", "binpacking"].map((name) => plain(name)),
      now: words(at(all[0], "nodesortpolicy.type"), "fair"),
      part: (value) => patched((partition) => ({ ...partition, nodesortpolicy: { ...(partition["nodesortpolicy"] as Json | undefined), type: value } })),
    },
    {
      id: "yunikorn:sort", label: t("subject.sort"), group, kind: "choice", choices: ["fifo", "fair", "stateaware"].map((name) => plain(name)),
      now: "",
      part: (value) => patched((partition) => ({ ...partition, queues: (partition["queues"] as Json[]).map((queue) => sorted(queue, value)) })),
    },
  ];
}

function sorted(queue: Json, policy: unknown): Json {
  const below = queue["queues"];
  const properties = { ...(queue["properties"] as Json | undefined), "application.sort.policy": policy };
  return { ...queue, properties, ...(Array.isArray(below) ? { queues: (below as Json[]).map((one) => sorted(one, policy)) } : {}) };
}

// ---- objects ----

const nameOf = (manifest: Json): string => words(at(manifest, "metadata.name"), "");
const listAt = (value: unknown, path: string): Json[] => {
  const found = at(value, path);
  return Array.isArray(found) ? (found as Json[]) : [];
};

function ofQueue(queue: Json): Subject[] {
  const name = nameOf(queue);
  const object = `ClusterQueue/${name}`;
  const group = t("subject.group.queue", { name });
  const field = (path: string, label: string, now: unknown, choices: readonly Choice[] = []): Subject => ({
    id: `${object}:${path}`, label: `${name}: ${label}`, group, kind: choices.length > 0 ? "choice" : "text", choices,
    now: now === undefined || now === null ? "" : typeof now === "string" ? now : JSON.stringify(now),
    part: (value) => ({ objects: [{ object, set: { [path]: value } }] }),
    axis: { object, field: path },
  });
  const quotas = listAt(queue, "spec.resourceGroups").flatMap((group_, g) =>
    listAt(group_, "flavors").flatMap((flavor, f) =>
      listAt(flavor, "resources").map((resource, r) => {
        const label = t("subject.nominal", { flavor: words(flavor["name"]), unit: unitOf(words(resource["name"])) });
        return field(`spec.resourceGroups[${g}].flavors[${f}].resources[${r}].nominalQuota`, label, resource["nominalQuota"]);
      }),
    ),
  );
  return [
    ...quotas,
    field("spec.fairSharing.weight", t("field.weight"), at(queue, "spec.fairSharing.weight") ?? "1"),
    ...PREEMPTION.map(([path, word, names]) => field(`spec.preemption.${path}`, t(word), at(queue, `spec.preemption.${path}`) ?? "Never", names.map((one) => plain(one)))),
  ];
}

function ofNodes(world: World): Subject[] {
  const shapes = new Map<string, Json>();
  for (const node of world.nodes) {
    const shape = JSON.stringify(at(node, "status.allocatable") ?? at(node, "status.capacity") ?? {});
    if (!shapes.has(shape)) shapes.set(shape, node);
  }
  const group = t("view.nodes");
  const more = [...shapes.values()].map((node): Subject => {
    const name = nameOf(node);
    return {
      id: `more:${name}`, label: t("subject.more", { name, shape: shapeOf(node) }), group, kind: "number", choices: [], now: "0",
      part: (value) => ({ objects: Array.from({ length: Math.min(MOST_MORE, Math.max(0, Math.round(Number(value)))) }, (_, n) => ({ create: twin(node, `${name}-more-${n + 1}`) })) }),
    };
  });
  const without = world.nodes.slice(0, 50).map((node): Subject => {
    const name = nameOf(node);
    return {
      id: `without:${name}`, label: t("subject.without", { name }), group, kind: "choice", choices: [{ name: "gone", label: t("subject.gone"), value: true }], now: "",
      part: () => ({ objects: [{ object: `Node/${name}`, delete: true }] }),
    };
  });
  return [...more, ...without];
}

function shapeOf(node: Json): string {
  const found = (at(node, "status.allocatable") ?? {}) as Json;
  const main = Object.keys(found).find((name) => name.includes("/")) ?? "cpu";
  return `${words(found[main])} ${unitOf(main)}`;
}

function twin(node: Json, name: string): Json {
  const labels = { ...((at(node, "metadata.labels") ?? {}) as Json), "kubernetes.io/hostname": name };
  const annotations = at(node, "metadata.annotations");
  return {
    apiVersion: "v1", kind: "Node",
    metadata: { name, labels, ...(annotations === undefined ? {} : { annotations }) },
    ...(node["spec"] === undefined ? {} : { spec: { ...(node["spec"] as Json), unschedulable: false } }),
    status: { allocatable: at(node, "status.allocatable") ?? {}, capacity: at(node, "status.capacity") ?? at(node, "status.allocatable") ?? {} },
  };
}
