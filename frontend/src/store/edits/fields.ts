// What a manifest holds that people change: fields with their places in it, and the patch of a change; pure.

import type { Json } from "@/net/rest";
import type { Word } from "@/lib/words.svelte";
import type { ClusterQueueRow } from "@/protocol/types";
import { pairsPatch, pairsText, type Pairs } from "@/store/edits/pairs";

export type Path = readonly (string | number)[];

/** One field of a manifest as a text; "" where it is not given. */
export interface ManifestField {
  readonly word: Word | ""; // what it is; "" where the real name alone is shown
  readonly name: string; // the name in the manifest, with what it belongs to
  readonly group: string; // the heading that it stands under
  readonly path: Path;
  readonly text: string;
  readonly whole: boolean; // a whole number in the manifest
  readonly choices?: readonly string[]; // what it may be; any text where there are none
  readonly pairs?: Pairs; // several in one text, parted by commas
}

/** A field of a ClusterQueue that has few values. */
export interface QueueSwitch {
  readonly word: Word;
  readonly path: string;
  readonly choices: readonly string[];
  readonly own: (row: ClusterQueueRow) => string; // as the run has it
}

export const QUEUE_SWITCHES: readonly QueueSwitch[] = [
  { word: "switch.reclaim", path: "spec.preemption.reclaimWithinCohort", choices: ["Never", "LowerPriority", "Any"], own: (row) => row.reclaimWithinCohort },
  { word: "switch.within", path: "spec.preemption.withinClusterQueue", choices: ["Never", "LowerPriority", "LowerOrNewerEqualPriority"], own: (row) => row.withinClusterQueue },
  { word: "switch.borrow", path: "spec.preemption.borrowWithinCohort.policy", choices: ["Never", "LowerPriority"], own: (row) => row.borrowWithinCohort },
  { word: "switch.strategy", path: "spec.queueingStrategy", choices: ["BestEffortFIFO", "StrictFIFO"], own: (row) => row.queueingStrategy },
  { word: "switch.stop", path: "spec.stopPolicy", choices: ["None", "Hold", "HoldAndDrain"], own: (row) => row.stopPolicy },
];

const RUNTIME = "quotalab.dev/runtime";

/** Return the fields of a manifest that have a form; none for kinds that have none. `queue`: of that queue of a policy. */
export function fieldsOf(manifest: Json, queue = ""): ManifestField[] {
  switch (manifest["kind"]) {
    case "Policy":
      return queueFields(manifest, queue);
    case "ClusterQueue":
      return [...QUEUE_SWITCHES.map(({ word, path, choices }) => ({ ...field(manifest, word, path.split(".")), choices })), field(manifest, "field.weight", ["spec", "fairSharing", "weight"]), ...quotas(manifest)];
    case "Cohort":
      return [field(manifest, "field.weight", ["spec", "fairSharing", "weight"]), ...quotas(manifest)];
    case "Node":
      return [...amounts(manifest, ["status", "allocatable"], "status.allocatable"), pairs(manifest, "add.labels", ["metadata", "labels"], "labels"), pairs(manifest, "field.taints", ["spec", "taints"], "taints")];
    case "Workload":
      return [field(manifest, "work.priority", ["spec", "priority"], "", true), runtime(manifest), ...podSets(manifest)];
    case "Job":
      return [
        field(manifest, "field.parallelism", ["spec", "parallelism"], "", true),
        field(manifest, "field.completions", ["spec", "completions"], "", true),
        runtime(manifest),
        ...containers(manifest, ["spec", "template", "spec"], ""),
      ];
    case "Pod":
      return [runtime(manifest), ...containers(manifest, ["spec"], "")];
    case "PriorityClass":
    case "WorkloadPriorityClass":
      return [field(manifest, "work.priority", ["value"], "", true)];
    default:
      return [];
  }
}

function quotas(manifest: Json): ManifestField[] {
  return items(manifest, ["spec", "resourceGroups"]).flatMap((group) =>
    items(manifest, [...group, "flavors"]).flatMap((flavor) =>
      items(manifest, [...flavor, "resources"]).flatMap((resource) => {
        const under = `${valueAt(manifest, [...flavor, "name"])} · ${valueAt(manifest, [...resource, "name"])}`;
        const of = (word: Word, name: string): ManifestField => field(manifest, word, [...resource, name], under);
        return [of("why.nominal", "nominalQuota"), of("legend.limit", "borrowingLimit"), of("quota.lendingLimit", "lendingLimit")];
      }),
    ),
  );
}

/** Where a policy holds the partitions of YuniKorn's file of queues. */
export const PARTITIONS: Path = ["spec", "yunikorn", "queues", "partitions"];
const PROPERTIES: readonly (readonly [Word, string, (readonly string[])?])[] = [
  ["field.sortPolicy", "application.sort.policy", ["fifo", "fair", "stateaware"]],
  ["field.sortPriority", "application.sort.priority", ["enabled", "disabled"]],
  ["field.priorityOffset", "priority.offset"],
  ["field.priorityPolicy", "priority.policy", ["default", "fence"]],
  ["field.preemptionPolicy", "preemption.policy", ["default", "fence", "disabled"]],
  ["field.preemptionDelay", "preemption.delay"],
];

// A YuniKorn queue by its path; only a queue that the file names has fields.
function queueFields(manifest: Json, queue: string): ManifestField[] {
  const path = placeOfQueue(manifest, queue.split("."));
  if (path === null) return [];
  const [guaranteed, max] = [[...path, "resources", "guaranteed"], [...path, "resources", "max"]];
  const known = [guaranteed, max].flatMap((place) => Object.keys(record(read(manifest, place))));
  const names = [...new Set(["vcore", "memory", ...known])];
  return [
    ...names.map((name) => ({ ...field(manifest, "", [...guaranteed, name], "guaranteed"), name })),
    ...names.map((name) => ({ ...field(manifest, "", [...max, name], "max"), name })),
    ...PROPERTIES.map(([word, name, choices]) => ({ ...field(manifest, word, [...path, "properties", name]), ...(choices ? { choices } : {}) })),
    field(manifest, "field.maxApplications", [...path, "maxapplications"], "", true),
  ];
}

/** Return where a queue stands. A file may leave root out: then the queues at its top are root's children. */
export function placeOfQueue(manifest: Json, names: readonly string[]): Path | null {
  for (const partition of items(manifest, PARTITIONS)) {
    const tops = items(manifest, [...partition, "queues"]);
    const rooted = tops.some((top) => valueAt(manifest, [...top, "name"]).toLowerCase() === "root");
    const found = below(manifest, tops, rooted ? names : names.slice(1));
    if (found !== null) return found;
  }
  return null;
}

function below(manifest: Json, queues: readonly Path[], names: readonly string[]): Path | null {
  const [first = "", ...rest] = names;
  const found = queues.find((one) => valueAt(manifest, [...one, "name"]).toLowerCase() === first.toLowerCase());
  if (found === undefined || rest.length === 0) return found ?? null;
  return below(manifest, items(manifest, [...found, "queues"]), rest);
}

const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});

function podSets(manifest: Json): ManifestField[] {
  return items(manifest, ["spec", "podSets"]).flatMap((set) => {
    const name = valueAt(manifest, [...set, "name"]);
    return [
      field(manifest, "field.count", [...set, "count"], name, true),
      field(manifest, "field.minCount", [...set, "minCount"], name, true),
      ...containers(manifest, [...set, "template", "spec"], name),
    ];
  });
}

function containers(manifest: Json, spec: Path, of: string): ManifestField[] {
  const all = items(manifest, [...spec, "containers"]);
  return all.flatMap((path) => {
    const name = all.length > 1 || of === "" ? valueAt(manifest, [...path, "name"]) : "";
    return amounts(manifest, [...path, "resources", "requests"], [of, name].filter(Boolean).join(" · "));
  });
}

function amounts(manifest: Json, path: Path, group: string): ManifestField[] {
  const given = read(manifest, path);
  if (typeof given !== "object" || given === null) return [];
  return Object.keys(given).map((name) => ({ ...field(manifest, "", [...path, name], group), name }));
}

const runtime = (manifest: Json): ManifestField => field(manifest, "field.runtime", ["metadata", "annotations", RUNTIME]);

function field(manifest: Json, word: Word | "", path: Path, group = "", whole = false): ManifestField {
  return { word, name: String(path.at(-1)), group, path, text: valueAt(manifest, path), whole };
}

function pairs(manifest: Json, word: Word, path: Path, form: Pairs): ManifestField {
  return { ...field(manifest, word, path, path.join(".")), text: pairsText(form, read(manifest, path)), pairs: form };
}

function items(manifest: Json, path: Path): Path[] {
  const given = read(manifest, path);
  return Array.isArray(given) ? given.map((_, index) => [...path, index]) : [];
}

/** Return what stands at a path; undefined where nothing does. */
export function read(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) at = typeof at === "object" && at !== null ? (at as Record<string | number, unknown>)[part] : undefined;
  return at;
}

function valueAt(manifest: Json, path: Path): string {
  const value = read(manifest, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Return a place as the server writes it: "spec.podSets[0].count". */
export function placeOf(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}

/** Return the merge patch that sets fields to texts; "" takes a field away. Lists go back whole. */
export function patchOf(manifest: Json, changes: readonly (readonly [ManifestField, string])[]): Json {
  let patch: Json = {};
  let now: unknown = manifest;
  for (const [one, text] of changes) {
    const list = one.path.findIndex((part) => typeof part === "number");
    // A merge patch takes a field away by null; inside a list, which is replaced, it is left out.
    const gone = list < 0 ? null : undefined;
    const value = one.pairs ? pairsPatch(one.pairs, text, read(manifest, one.path)) : text === "" ? gone : one.whole && /^-?\d+$/.test(text) ? Number(text) : text;
    now = put(now, one.path, value);
    const head = list < 0 ? one.path : one.path.slice(0, list);
    patch = put(patch, head, list < 0 ? value : read(now, head)) as Json;
  }
  return patch;
}

/** Return a copy with something else at a path. */
export function put(value: unknown, path: Path, next: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return next;
  if (typeof first === "number") return (value as unknown[]).map((item, index) => (index === first ? put(item, rest, next) : item));
  const before = (typeof value === "object" && value !== null ? value : {}) as Json;
  return { ...before, [first]: put(before[first], rest, next) };
}

/** Return the field that a refusal speaks of: the one at its place, else the one that its place is part of. */
export function fieldAt(fields: readonly ManifestField[], place: string): ManifestField | undefined {
  const exact = fields.find((one) => placeOf(one.path) === place);
  if (exact !== undefined || place === "") return exact;
  return fields.find((one) => placeOf(one.path).startsWith(`${place}.`) && one.text !== "") ?? fields.find((one) => place.startsWith(placeOf(one.path)));
}
