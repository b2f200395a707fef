// Moves: what a drop means, what it would do, and the same as YAML and as a request.

import { list, number, record, request, text, type Json } from "@/net/rest";
import type { Carried, Drop, Target } from "@/lib/drag.svelte";
import type { ToastCode } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { attempt, fork, nameOf, tellDone } from "@/store/intents";
import { live } from "@/store/live.svelte";
import { objectPath } from "@/store/server";

export interface Move {
  readonly subject: string; // key of what is carried
  readonly target: string; // key of where it goes
  readonly label: string; // what people call the subject
}

export interface Outcome {
  readonly outcome: string; // "admitted", "waits", "inactive" or "changes"
  readonly tick: number | null;
  readonly message: string;
  readonly position: number | null;
  readonly victims: readonly { name: string; reason: string; lostMs: number }[];
  readonly shares: readonly { queue: string; before: string; after: string }[];
}

interface Request {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: Json;
  readonly yaml: Json; // the change as a part of the manifest
}

/** Return the request that a move is. */
function requestOf({ subject, target }: Move): Request {
  const [kind, namespace = ""] = subject.split("/");
  const to = nameOf(target);
  const base = `/sandboxes/${String(live.id)}`;
  if (kind === "ClusterQueue") {
    const yaml = { spec: { cohortName: to } };
    return { method: "PATCH", path: `${base}/${objectPath(subject)}`, body: yaml, yaml };
  }
  const door = doorTo(namespace, to);
  return {
    method: "POST",
    path: `${base}/actions/move`,
    body: { workload: `${namespace}/${nameOf(subject)}`, to: `ClusterQueue/${to}` },
    yaml: { metadata: { namespace, name: nameOf(subject) }, spec: { queueName: door ?? to } },
  };
}

function doorTo(namespace: string, queue: string): string | undefined {
  const doors = live.book.all("LocalQueue");
  return doors.find((door) => door.namespace === namespace && door.clusterQueue === queue)?.name;
}

/** Ask what a move would do; it is run on a copy of the world, nothing changes. */
export async function foresee(move: Move, signal: AbortSignal): Promise<Outcome> {
  const what = requestOf(move);
  if (what.method === "PATCH") {
    await request("PATCH", what.path, { body: what.body, query: { dryRun: "All" }, signal });
    const message = t("drop.cohort", { cohort: nameOf(move.target) });
    return { outcome: "changes", tick: null, message, position: null, victims: [], shares: [] };
  }
  const body = { ...what.body, dryRun: true };
  return outcomeOf(record(await request(what.method, what.path, { body, signal })));
}

/** Move for real; says what it was in YAML and as a REST call, with Undo. */
export async function move(what: Move, onFork: boolean): Promise<boolean> {
  if (onFork && (await fork()) === null) return false;
  const { method, path, body, yaml } = requestOf(what);
  if ((await attempt(() => request(method, path, { body }))) === null) return false;
  const call = `curl -X ${method} ${location.origin}/api/v1${path} \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const code: ToastCode[] = [
    { label: t("act.copyYaml"), text: toYaml(yaml) },
    { label: t("act.copyRest"), text: call },
  ];
  tellDone(t("drag.moved", { what: what.label, to: nameOf(what.target) }), code);
  return true;
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

function outcomeOf(answer: Json): Outcome {
  const rows = (value: unknown): Json[] => list(value ?? []).map(record);
  return {
    outcome: text(answer["outcome"]),
    tick: typeof answer["tick"] === "number" ? answer["tick"] : null,
    message: text(answer["message"]),
    position: typeof answer["position"] === "number" ? answer["position"] : null,
    victims: rows(answer["victims"]).map((row) => ({
      name: text(row["workload"]),
      reason: text(row["reason"]),
      lostMs: number(row["workLostMs"]),
    })),
    shares: rows(answer["shares"]).map((row) => ({
      queue: text(row["queue"]),
      before: text(row["before"]),
      after: text(row["after"]),
    })),
  };
}
