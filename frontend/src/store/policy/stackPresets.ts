// Policies of kube-scheduler and YuniKorn by their intent: what each sets, whether it holds, and the patch that sets it; pure.

import { record, rowsOf, text, type Json } from "@/net/rest";
import type { Word } from "@/lib/words.svelte";
import { at } from "@/store/policy/paths";
import { schedulersOf, setArgument, setPoint } from "@/store/policy/profiles";

/** One thing that a preset sets, read and written in a profile or a partition. */
interface Setting {
  readonly name: string;
  readonly read: (of: Json) => string;
  readonly write: (of: Json, value: string) => Json;
}

export interface StackPreset {
  readonly id: string;
  readonly word: Word;
  readonly help: Word;
  readonly values: readonly string[]; // of the stack's settings, in their order
}

const FIT = "NodeResourcesFit";
const GANG = "Coscheduling";
const PREEMPTS = "DefaultPreemption";

const named = (profile: Json, point: string, list: string): string[] =>
  rowsOf(record(record(profile["plugins"] ?? {})[point] ?? {})[list]).map((row) => text(row["name"]));
const has = (profile: Json, plugin: string): boolean => named(profile, "multiPoint", "enabled").includes(plugin);
const argsOf = (profile: Json): unknown => rowsOf(profile["pluginConfig"]).find((one) => text(one["name"]) === FIT)?.["args"];

const KUBE: readonly Setting[] = [
  {
    name: FIT,
    read: (profile) => text(at(argsOf(profile), "scoringStrategy.type")) || "LeastAllocated",
    write: (profile, value) => setArgument(profile, FIT, ["scoringStrategy", "type"], value),
  },
  {
    name: PREEMPTS,
    read: (profile) => onOff(!["multiPoint", "postFilter"].some((point) => named(profile, point, "disabled").includes(PREEMPTS))),
    write: (profile, value) => preempting(profile, value === "on"),
  },
  {
    name: GANG,
    read: (profile) => onOff(has(profile, GANG)),
    write: (profile, value) => (value === "on" ? setPoint(setPoint(profile, GANG, "multiPoint", true), GANG, "queueSort", true) : gangless(profile)),
  },
];

function onOff(on: boolean): string {
  return on ? "on" : "off";
}

function preempting(profile: Json, on: boolean): Json {
  if (!on) return setPoint(profile, PREEMPTS, "postFilter", false);
  const points = ["multiPoint", "postFilter"].filter((point) => named(profile, point, "disabled").includes(PREEMPTS));
  return points.reduce((before, point) => setPoint(before, PREEMPTS, point, true), profile);
}

// Off is as if it had never been named: no default list has it.
function gangless(profile: Json): Json {
  const plugins = record(profile["plugins"] ?? {});
  const everywhere = record(plugins["multiPoint"] ?? {});
  const enabled = rowsOf(everywhere["enabled"]).filter((row) => text(row["name"]) !== GANG);
  return setPoint({ ...profile, plugins: { ...plugins, multiPoint: { ...everywhere, enabled } } }, "PrioritySort", "queueSort", true);
}

const SORT = "application.sort.policy";

const YUNIKORN: readonly Setting[] = [
  {
    name: SORT,
    read: (partition) => [...new Set(sorts(partition, "fifo"))].join(", "),
    write: (partition, value) => ({ ...partition, queues: rowsOf(partition["queues"]).map((queue) => sorted(queue, value)) }),
  },
  {
    name: "preemption.enabled",
    read: (partition) => onOff(at(partition, "preemption.enabled") !== false),
    write: (partition, value) => ({ ...partition, preemption: { ...record(partition["preemption"] ?? {}), enabled: value === "on" } }),
  },
  {
    name: "nodesortpolicy",
    read: (partition) => text(at(partition, "nodesortpolicy.type")) || "fair",
    write: (partition, value) => ({ ...partition, nodesortpolicy: { ...record(partition["nodesortpolicy"] ?? {}), type: value } }),
  },
];

const childrenOf = (queue: Json): Json[] => rowsOf(queue["queues"]);
const sortOf = (queue: Json): string => text(record(queue["properties"] ?? {})[SORT]);

// What each leaf comes to: its own, else that of the nearest parent which has one.
function sorts(queue: Json, inherited: string): string[] {
  const here = sortOf(queue) || inherited;
  const below = childrenOf(queue);
  return below.length === 0 ? [here] : below.flatMap((child) => sorts(child, here));
}

function sorted(queue: Json, value: string): Json {
  const below = childrenOf(queue);
  if (below.length > 0) return { ...queue, queues: below.map((child) => sorted(child, value)) };
  return { ...queue, properties: { ...record(queue["properties"] ?? {}), [SORT]: value } };
}

export const STACK_PRESETS: Readonly<Record<string, readonly StackPreset[]>> = {
  kube: [
    { id: "spread", word: "preset.spread", help: "preset.spread.help", values: ["LeastAllocated", "on", "off"] },
    { id: "pack", word: "preset.pack", help: "preset.pack.help", values: ["MostAllocated", "on", "off"] },
    { id: "gangs", word: "preset.gangs", help: "preset.gangs.help", values: ["MostAllocated", "on", "on"] },
    { id: "calm", word: "preset.calm", help: "preset.calm.help", values: ["LeastAllocated", "off", "off"] },
  ],
  yunikorn: [
    { id: "first", word: "preset.first", help: "preset.first.help", values: ["fifo", "off", "fair"] },
    { id: "guarantees", word: "preset.guarantees", help: "preset.guarantees.help", values: ["fifo", "on", "fair"] },
    { id: "packed", word: "preset.packed", help: "preset.packed.help", values: ["fair", "on", "binpacking"] },
  ],
};

/** Return the parts of a policy that a preset of this stack is about: profiles, or partitions. */
function partsOf(stack: string, policy: unknown): Json[] {
  if (stack === "yunikorn") return rowsOf(at(policy, "spec.yunikorn.queues.partitions"));
  const document = schedulersOf(policy);
  const items = text(document["kind"]) === "List" ? rowsOf(document["items"]) : [document];
  return items.flatMap(profilesOf);
}

function profilesOf(configuration: Json): Json[] {
  const given = rowsOf(configuration["profiles"]);
  return given.length > 0 ? given : [{ schedulerName: "default-scheduler" }];
}

const settingsOf = (stack: string): readonly Setting[] => (stack === "yunikorn" ? YUNIKORN : KUBE);

/** Return what a preset changes, as "default-scheduler: NodeResourcesFit LeastAllocated → MostAllocated". */
export function stackChanges(stack: string, preset: StackPreset, policy: unknown): string[] {
  return partsOf(stack, policy).flatMap((part) => {
    const changes = settingsOf(stack).flatMap((setting, index) => {
      const [before, after] = [setting.read(part), preset.values[index] ?? ""];
      return before === after ? [] : [`${setting.name} ${before} → ${after}`];
    });
    return changes.length === 0 ? [] : [`${text(part["schedulerName"]) || text(part["name"])}: ${changes.join(", ")}`];
  });
}

/** Return the patch of a policy's spec that sets a preset; what it is not about stays. */
export function stackPatch(stack: string, preset: StackPreset, policy: unknown): Json {
  const set = (part: Json): Json =>
    settingsOf(stack).reduce((before, setting, index) => {
      const value = preset.values[index] ?? "";
      return setting.read(before) === value ? before : setting.write(before, value);
    }, part);
  if (stack === "yunikorn") return { yunikorn: { queues: { partitions: partsOf(stack, policy).map(set) } } };
  const document = schedulersOf(policy);
  const configured = (one: Json): Json => ({ apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration", ...one, profiles: profilesOf(one).map(set) });
  if (text(document["kind"]) !== "List") return { kubeScheduler: configured(document) };
  return { kubeScheduler: { ...document, items: rowsOf(document["items"]).map(configured) } };
}

/** Return whether a stack has presets that fit this policy. */
export function stackPresets(stack: string, policy: unknown): readonly StackPreset[] {
  return partsOf(stack, policy).length === 0 ? [] : (STACK_PRESETS[stack] ?? []);
}
