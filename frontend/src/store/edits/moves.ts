// Moves: what a drop means, and the change of the what-if that it is.

import type { Json } from "@/net/rest";
import type { Edit } from "@/protocol/types";
import type { Carried, Drop, Target } from "@/lib/drag.svelte";
import type { ToastCode } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { addedNodes, applied, type Change, type Part } from "@/store/edits/changes";
import { change, whatIf } from "@/store/edits/whatIf.svelte";
import { nameOf, nextName } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import type { NodeRow } from "@/protocol/types";

export interface Move {
  readonly subject: string; // key of what is carried
  readonly target: string; // key of where it goes
  readonly label: string; // what people call the subject
}

/** Return the change that a move is. */
export function changeOf(what: Move): Change {
  const from = placeOf(what.subject);
  const to = nameOf(what.target);
  const said = from === "" ? t("drag.moved", { what: what.label, to }) : t("drag.movedFrom", { what: what.label, from, to });
  const way = wayTo(what.subject, what.target);
  return way === null ? { said: [said], parts: [partOf(what)] } : { said: [t("drag.makes", { queue: `${way.namespace}/${way.name}` }), said], parts: [{ apply: way.manifest }, partOf(what)] };
}

interface Way {
  readonly namespace: string;
  readonly name: string;
  readonly manifest: Json;
}

/** Return the LocalQueue that a Workload needs on its way to a ClusterQueue: none leads there from its namespace. */
export function wayTo(subject: string, target: string): Way | null {
  const [kind, namespace = ""] = subject.split("/");
  const clusterQueue = nameOf(target);
  if (kind !== "Workload" || !target.startsWith("ClusterQueue/")) return null;
  const there = [...live.shown.all("LocalQueue"), ...applied(whatIf.parts, "LocalQueue").map((one) => ({ ...one, clusterQueue: whatIf.held(`LocalQueue/${one.namespace}/${one.name}`, "spec.clusterQueue", "") }))];
  const own = there.filter((one) => one.namespace === namespace);
  if (own.some((one) => one.clusterQueue === clusterQueue)) return null;
  const taken = new Set(own.map((one) => one.name));
  const name = taken.has(clusterQueue) ? nextName(clusterQueue, taken) : clusterQueue;
  return { namespace, name, manifest: { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "LocalQueue", metadata: { namespace, name }, spec: { clusterQueue } } };
}

/** Move it in the what-if. Returns whether the server took it. */
export function move(what: Move): Promise<boolean> {
  const { said, parts } = changeOf(what);
  return change(said, parts);
}

function partOf({ subject, target }: Move): Part {
  const [kind = "", namespace = ""] = subject.split("/");
  const [name, to] = [nameOf(subject), nameOf(target)];
  if (kind === "Pod") return { pin: { namespace, name, node: to } };
  return { move: { kind, namespace, name, to: { kind: kind === "ClusterQueue" ? "Cohort" : "ClusterQueue", name: to } } };
}

// Where it is now, by name: "" for what is nowhere yet.
function placeOf(key: string): string {
  const row = live.shown.row(key);
  if (row?.kind === "Workload") return row.clusterQueue;
  if (row?.kind === "Pod") return row.node;
  return row?.kind === "ClusterQueue" ? row.cohort : "";
}

/** Let a pinned pod go where it may, in the what-if. */
export async function unpin(key: string): Promise<void> {
  const [, namespace = ""] = key.split("/");
  await change([t("pod.unpinned", { name: nameOf(key) })], [{ pin: { namespace, name: nameOf(key), node: "" } }]);
}

/** Cordon, drain, fail or recover a node, in the what-if. */
export function changeNode(key: string, turn: "cordon" | "uncordon" | "drain" | "fail" | "recover"): void {
  const name = nameOf(key);
  void change([t(`node.did.${turn}`, { name })], [{ node: { name, change: turn } }]);
}

/** What of a node can run out so that its kubelet evicts pods. */
export const SCARCE = ["memory", "ephemeral-storage", "pid"] as const;
type Scarce = (typeof SCARCE)[number];

/** Let something that is no pod take what pods leave of a node, or give it back ("" for what), in the what-if. */
export function pressNode(row: NodeRow, what: Scarce | ""): void {
  const left = what === "" ? 0 : Math.max(0, Number(row.allocatable[what] ?? 0) - Number(row.used[what] ?? 0));
  const taken = what === "" ? null : `${what}=${left}`;
  const body = { metadata: { annotations: { "quotalab.dev/taken": taken } } };
  const said = what === "" ? t("node.relieved", { name: row.name }) : t("node.pressed", { name: row.name, what });
  void change([said], [{ patch: { kind: "Node", namespace: "", name: row.name, body } }]);
}

/** Make the change that an answer to "what would let it in" was run with, in the what-if. */
export async function makeEdits(edits: readonly Edit[], said: string): Promise<boolean> {
  return change([said], edits.map(({ kind, namespace, name, patch }): Part => (kind === "Policy" ? { policy: patch } : { patch: { kind, namespace, name, body: patch } })));
}

/** Add a node as large as another one and labelled like it, in the what-if. */
export async function addNode(like: string): Promise<void> {
  const model = nameOf(like);
  const name = nextName(model, new Set([...live.shown.keys("Node").map(nameOf), ...addedNodes(whatIf.parts)]));
  await change([t("node.addDone", { name })], [{ node: { name, change: "add", like: model } }]);
}

/** Cut the manager off from a worker cluster, or connect it again, in the what-if. */
export async function changeCluster(name: string, turn: "lose" | "recover"): Promise<void> {
  await change([t(`cluster.did.${turn}`, { name })], [{ cluster: { name, change: turn } }]);
}

/** Return an edit as YAML and as a REST call, to copy. */
export function codeOf(method: string, path: string, body: Json, yaml: Json): ToastCode[] {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  const call = `curl -X ${method} ${location.origin}/api/v1${path} \\\n  -H 'content-type: application/json' -d '${quoted}'`;
  return [
    { label: t("act.copyYaml"), text: toYaml(yaml) },
    { label: t("act.copyRest"), text: call },
  ];
}

/** Return the move that a drop would be. */
export function moveOf(carried: Carried, target: Target): Move {
  return { subject: carried.key, target: target.id, label: carried.label };
}

/** Do the move of a drop. */
export async function dropOn(drop: Drop): Promise<void> {
  if (live.loaded) await move(moveOf(drop.carried, drop.target));
}
