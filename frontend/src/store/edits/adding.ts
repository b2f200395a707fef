// Objects added by hand: what is asked, and the manifests that the answers make; pure.

import type { Json } from "@/net/rest";
import type { Word } from "@/lib/words.svelte";
import { PARTITIONS, placeOfQueue, put, read, type Path } from "@/store/edits/fields";
import { labelsOf, taintsOf } from "@/store/edits/pairs";

export const ADDABLE = ["workload", "queue", "node"] as const;
export type Addable = (typeof ADDABLE)[number];
export type FormAnswers = Readonly<Record<string, string>>;

/** One question of the form. */
export interface FormQuestion {
  readonly id: string;
  readonly word: Word | ""; // "": `id` is a real name, shown as it is
  readonly first: string;
  readonly choices?: readonly string[];
  readonly open?: boolean; // something else than the choices may be typed
  readonly whole?: boolean;
}

/** What is there already, for choices and for names that are free. */
export interface Around {
  readonly stack: string;
  readonly localQueues: readonly string[]; // "namespace/name", or YuniKorn's leaf queues by their paths
  readonly cohorts: readonly string[];
  readonly parents: readonly string[]; // YuniKorn's queues that have children, by their paths
  readonly policy: Json; // for the file of queues that a further one is put into
  readonly flavors: readonly string[];
  readonly priorityClasses: readonly string[];
  readonly resources: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeAmounts: Readonly<Record<string, string>>;
  readonly free: (stem: string) => string;
}

const FIRST: Readonly<Record<string, string>> = { cpu: "1", memory: "1Gi" };
const RESOURCE = "resource:";

/** Return what is asked to add one. */
export function questionsOf(kind: Addable, around: Around): FormQuestion[] {
  const each = (amounts: Readonly<Record<string, string>>): FormQuestion[] =>
    around.resources.map((name) => ({ id: RESOURCE + name, word: "", first: amounts[name] ?? "" }));
  const name: FormQuestion = { id: "name", word: "add.name", first: around.free(kind === "workload" ? "job" : kind) };
  if (kind === "node") {
    const labels = Object.entries(around.nodeLabels).map(([key, value]) => `${key}=${value}`).join(", ");
    return [name, { id: "copies", word: "add.copies", first: "1", whole: true }, ...each(around.nodeAmounts), { id: "pods", word: "add.pods", first: "110", whole: true }, { id: "labels", word: "add.labels", first: labels }, { id: "taints", word: "field.taints", first: "" }];
  }
  if (kind === "queue" && around.stack === "yunikorn") return queueQuestions(name, around);
  if (kind === "queue") {
    return [
      name,
      { id: "cohort", word: "add.cohort", first: around.cohorts[0] ?? "", choices: around.cohorts, open: true },
      { id: "weight", word: "field.weight", first: "1" },
      { id: "strategy", word: "switch.strategy", first: "BestEffortFIFO", choices: ["BestEffortFIFO", "StrictFIFO"] },
      { id: "flavor", word: "add.flavor", first: around.flavors[0] ?? "default", choices: around.flavors, open: true },
      ...each(FIRST),
      { id: "namespace", word: "add.namespace", first: "default" },
    ];
  }
  const queue: FormQuestion[] = around.stack === "kube" ? [{ id: "namespace", word: "add.namespace", first: "default" }] : [{ id: "queue", word: "add.queue", first: around.localQueues[0] ?? "", choices: around.localQueues }];
  return [
    name,
    ...queue,
    { id: "priorityClass", word: "add.priorityClass", first: "", choices: around.priorityClasses, open: true },
    { id: "count", word: "field.count", first: "1", whole: true },
    ...each(FIRST),
    { id: "runtime", word: "field.runtime", first: "60s" },
  ];
}

/** Return the manifests that the answers make. */
export function manifestsOf(kind: Addable, answers: FormAnswers, around: Around): Json[] {
  if (kind === "node") return nodes(answers);
  if (kind === "queue" && around.stack === "yunikorn") return [policyWithQueue(answers, around)];
  if (kind === "queue") return queue(answers, around);
  return [job(answers, around)];
}

function amountsOf(answers: FormAnswers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(answers).flatMap(([id, text]) => (id.startsWith(RESOURCE) && text !== "" ? [[id.slice(RESOURCE.length), text]] : [])),
  );
}

const whole = (text: string | undefined): number | string => (/^-?\d+$/.test(text ?? "") ? Number(text) : (text ?? ""));
const said = (answers: FormAnswers, id: string): string => answers[id] ?? "";

function nodes(answers: FormAnswers): Json[] {
  const copies = Math.max(1, Math.min(500, Number(said(answers, "copies")) || 1));
  const [labels, taints] = [labelsOf(said(answers, "labels")), taintsOf(said(answers, "taints"))];
  const allocatable = { ...amountsOf(answers), pods: said(answers, "pods") || "110" };
  return Array.from({ length: copies }, (_, at) => {
    const name = copies === 1 ? said(answers, "name") : `${said(answers, "name")}-${at + 1}`;
    return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...labels, "kubernetes.io/hostname": name } }, ...(taints.length > 0 ? { spec: { taints } } : {}), status: { allocatable } };
  });
}

function queue(answers: FormAnswers, around: Around): Json[] {
  const [name, cohort] = [said(answers, "name"), said(answers, "cohort")];
  const resources = Object.entries(amountsOf(answers)).map(([resource, nominalQuota]) => ({ name: resource, nominalQuota }));
  const flavor = said(answers, "flavor");
  const apiVersion = "kueue.x-k8s.io/v1beta2";
  const spec = {
    ...(cohort === "" ? {} : { cohortName: cohort }),
    queueingStrategy: said(answers, "strategy"),
    namespaceSelector: {},
    fairSharing: { weight: said(answers, "weight") },
    preemption: { withinClusterQueue: "LowerPriority", reclaimWithinCohort: "Any" },
    resourceGroups: [{ coveredResources: resources.map((one) => one.name), flavors: [{ name: flavor, resources }] }],
  };
  return [
    ...(around.flavors.includes(flavor) ? [] : [{ apiVersion, kind: "ResourceFlavor", metadata: { name: flavor } }]),
    { apiVersion, kind: "ClusterQueue", metadata: { name }, spec },
    { apiVersion, kind: "LocalQueue", metadata: { namespace: said(answers, "namespace"), name }, spec: { clusterQueue: name } },
  ];
}

function job(answers: FormAnswers, around: Around): Json {
  const [name, queueName, priority] = [said(answers, "name"), said(answers, "queue"), said(answers, "priorityClass")];
  const kueue = around.stack === "kueue";
  const [namespace, localQueue] = kueue ? split(queueName) : [said(answers, "namespace") || "default", ""];
  const labels = kueue
    ? { "kueue.x-k8s.io/queue-name": localQueue, ...(priority === "" ? {} : { "kueue.x-k8s.io/priority-class": priority }) }
    : around.stack === "yunikorn" ? { applicationId: name, queue: queueName } : {};
  const count = whole(answers["count"]);
  const container = { name: "main", image: "example.com/main", resources: { requests: amountsOf(answers) } };
  const pod = { restartPolicy: "Never", ...(kueue || priority === "" ? {} : { priorityClassName: priority }), containers: [container] };
  const runtime = { annotations: { "quotalab.dev/runtime": said(answers, "runtime") } };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace, ...(kueue ? { labels } : {}), ...runtime },
    spec: { parallelism: count, completions: count, ...(kueue ? { suspend: true } : {}), template: { ...(kueue ? {} : { metadata: { labels } }), spec: pod } },
  };
}

function split(path: string): [string, string] {
  const at = path.indexOf("/");
  return [path.slice(0, at), path.slice(at + 1)];
}

// Where the answers stand in the manifests that they make, as the server writes places.
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/metadata\.name$/, "name"],
  [/metadata\.namespace$/, "namespace"],
  [/cohort(Name)?$/, "cohort"],
  [/weight$/, "weight"],
  [/flavors\[\d+\]\.name$/, "flavor"],
  [/metadata\.annotations/, "runtime"],
  [/spec\.taints/, "taints"],
  [/queue-name$|metadata\.labels$/, "queue"],
  [/parallelism$|completions$/, "count"],
  [/priority/i, "priorityClass"],
];

/** Return the question that a refusal speaks of, or "" when none. */
export function questionAt(place: string, resources: readonly string[]): string {
  const quota = /resources\[(\d+)\]\.\w+$/.exec(place)?.[1];
  if (quota !== undefined) return RESOURCE + (resources[Number(quota)] ?? "");
  const resource = resources.find((name) => place.endsWith(`.${name}`) && /(requests|allocatable)/.test(place));
  if (resource !== undefined) return RESOURCE + resource;
  return PLACES.find(([pattern]) => pattern.test(place))?.[1] ?? "";
}

// A YuniKorn queue: what is asked, and the policy with it.

const AMOUNT = /^of:(guaranteed|max) (.+)$/;

/** Return what is asked of a queue of a file of queues. */
function queueQuestions(name: FormQuestion, { parents, resources }: Around): FormQuestion[] {
  const names = resources.map((one) => (one === "cpu" ? "vcore" : one));
  const amounts = (of: "guaranteed" | "max"): FormQuestion[] => names.map((one) => ({ id: `of:${of} ${one}`, word: "", first: "" }));
  return [
    name,
    { id: "parent", word: "add.parent", first: parents[0] ?? "root", choices: parents },
    ...amounts("guaranteed"),
    ...amounts("max"),
    { id: "sort", word: "field.sortPolicy", first: "fifo", choices: ["fifo", "fair", "stateaware"] },
  ];
}

/** Return the policy with the queue that the answers describe. */
function policyWithQueue(answers: FormAnswers, { policy }: Around): Json {
  const before = (Array.isArray(read(policy, PARTITIONS)) ? policy : put(policy, PARTITIONS, [{ name: "default" }])) as Json;
  const path = parentOf(before, answers["parent"] ?? "root");
  const siblings = read(before, path);
  return put(before, path, [...(Array.isArray(siblings) ? (siblings as unknown[]) : []), queueOf(answers)]) as Json;
}

// Where the children of a queue stand; of root also in a file that leaves root out, or that has no queue yet.
function parentOf(policy: Json, parent: string): Path {
  const found = placeOfQueue(policy, parent.split("."));
  if (found !== null) return [...found, "queues"];
  return [...PARTITIONS, 0, "queues"];
}

function queueOf(answers: FormAnswers): Json {
  const resources: Record<string, Record<string, string>> = {};
  for (const [id, text] of Object.entries(answers)) {
    const [, of = "", name = ""] = AMOUNT.exec(id) ?? [];
    if (of !== "" && text !== "") resources[of] = { ...resources[of], [name]: text };
  }
  return {
    name: answers["name"] ?? "",
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    properties: { "application.sort.policy": answers["sort"] ?? "fifo" },
  };
}
