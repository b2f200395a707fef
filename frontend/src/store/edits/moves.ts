// Moves: what a drop means, what it would do, and the same as YAML and as a request.

import { request, type Json } from "@/net/rest";
import type { Carried, Drop, Target } from "@/lib/drag.svelte";
import type { ToastCode } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { foreseeMove, foreseePin, type Foreseen } from "@/store/edits/foreseen";
import { attempt, fork, nameOf, announceEdit } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

export interface Move {
  readonly subject: string; // key of what is carried
  readonly target: string; // key of where it goes
  readonly label: string; // what people call the subject
}

interface Request {
  readonly path: string;
  readonly body: Json;
  readonly yaml: Json; // the change as a part of the manifest
}

/** Return the request that a move is. */
function requestOf({ subject, target }: Move): Request {
  const [kind, namespace = ""] = subject.split("/");
  const [name, to] = [nameOf(subject), nameOf(target)];
  const base = `/sandboxes/${String(live.id)}/actions`;
  if (kind === "ClusterQueue") {
    const yaml = { kind, metadata: { name }, spec: { cohortName: to } };
    return { path: `${base}/move`, body: { object: subject, to: `Cohort/${to}` }, yaml };
  }
  if (kind === "Pod") {
    const yaml = { kind, metadata: { namespace, name }, spec: { affinity: pinnedTo(to) } };
    return { path: `${base}/pin`, body: { pod: `${namespace}/${name}`, node: to }, yaml };
  }
  const localQueue = localQueueOf(namespace, to);
  return {
    path: `${base}/move`,
    body: { workload: `${namespace}/${name}`, to: `ClusterQueue/${to}` },
    yaml: { kind, metadata: { namespace, name }, spec: { queueName: localQueue ?? to } },
  };
}

// The rule of node affinity that one node alone can meet.
function pinnedTo(node: string): Json {
  const rule = { key: "metadata.name", operator: "In", values: [node] };
  const terms = { nodeSelectorTerms: [{ matchFields: [rule] }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function localQueueOf(namespace: string, queue: string): string | undefined {
  const localQueues = live.latest.all("LocalQueue");
  return localQueues.find((localQueue) => localQueue.namespace === namespace && localQueue.clusterQueue === queue)?.name;
}

/** Ask what a move would do; it is run on a copy of the world, nothing changes. */
export function foresee(move: Move, signal: AbortSignal): Promise<Foreseen> {
  const { path, body } = requestOf(move);
  return path.endsWith("/pin") ? foreseePin(path, body, signal) : foreseeMove(path, body, signal);
}

/** Move for real; says what it was in YAML and as a REST call, with Undo. */
export async function move(what: Move, onFork: boolean): Promise<boolean> {
  if (onFork && (await fork()) === null) return false;
  const { path, body, yaml } = requestOf(what);
  const from = placeOf(what.subject);
  if ((await attempt(() => request("POST", path, { body }))) === null) return false;
  const code = codeOf("POST", path, body, yaml);
  const to = nameOf(what.target);
  announceEdit(from === "" ? t("drag.moved", { what: what.label, to }) : t("drag.movedFrom", { what: what.label, from, to }), code);
  return true;
}

// Where it is now, by name: "" for what is nowhere yet.
function placeOf(key: string): string {
  const row = live.latest.row(key);
  if (row?.kind === "Workload") return row.clusterQueue;
  if (row?.kind === "Pod") return row.node;
  return row?.kind === "ClusterQueue" ? row.cohort : "";
}

/** Let a pinned pod go where it may. */
export async function unpin(key: string): Promise<void> {
  const [, namespace = ""] = key.split("/");
  const path = `/sandboxes/${String(live.id)}/actions/pin`;
  const body = { pod: `${namespace}/${nameOf(key)}`, node: "" };
  if ((await attempt(() => request("POST", path, { body }))) === null) return;
  announceEdit(t("pod.unpinned", { name: nameOf(key) }), []);
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
  if (live.loaded) await move(moveOf(drop.carried, drop.target), drop.onFork);
}

/** Why something may not be dropped on a queue, or "". */
export function refusalOf(carried: Carried, queueKey: string): string {
  if (carried.from === queueKey) return t("drag.sameQueue");
  return queueKey.startsWith("ClusterQueue/") ? "" : t("drag.noQueue");
}
