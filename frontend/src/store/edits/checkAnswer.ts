// An admission check answered by hand: the Workload's status is written as the check's controller would.

import { record, request, type Json } from "@/net/rest";
import { t } from "@/lib/words.svelte";
import { codeOf } from "@/store/edits/moves";
import { announceEdit, attempt, nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";

export const ANSWERS = ["Ready", "Retry", "Rejected"] as const;
export type Answer = (typeof ANSWERS)[number];

export interface AnswerRequest {
  readonly path: string;
  readonly body: Json;
}

/** Return the request that an answer at an instant is; the checks that it does not name stay as they are. */
export function answerRequest(sandbox: string, key: string, check: string, state: Answer, at: string): AnswerRequest {
  const [, namespace = ""] = key.split("/");
  const place = `namespaces/${encodeURIComponent(namespace)}/workloads/${encodeURIComponent(nameOf(key))}`;
  return {
    path: `/sandboxes/${sandbox}/apis/kueue.x-k8s.io/v1beta2/${place}/status`,
    body: { status: { admissionChecks: [{ name: check, state, message: "", lastTransitionTime: at }] } },
  };
}

/** Return the time of the sandbox as an API server writes it, by when a workload was made. */
async function nowOf(sandbox: string, key: string): Promise<string> {
  const manifest = record(await request("GET", `/sandboxes/${sandbox}/${objectPath(key)}`));
  const made = Date.parse(String(record(manifest["metadata"])["creationTimestamp"]));
  const since = live.nowMs - (live.shown.get("Workload", key)?.createdMs ?? live.nowMs);
  return `${new Date(made + since).toISOString().slice(0, 19)}Z`;
}

/** Answer a check of a workload; says it as YAML and as a REST call, with Undo. Returns whether it was done. */
export async function answerCheck(key: string, check: string, state: Answer): Promise<boolean> {
  const sandbox = String(live.id);
  const made = await attempt(async () => {
    const asked = answerRequest(sandbox, key, check, state, await nowOf(sandbox, key));
    await request("PATCH", asked.path, { body: asked.body });
    return asked;
  });
  if (made === null) return false;
  const { path, body } = made;
  const [kind = "", namespace = ""] = key.split("/");
  const yaml = { apiVersion: "kueue.x-k8s.io/v1beta2", kind, metadata: { namespace, name: nameOf(key) }, ...body };
  announceEdit(t("check.answered", { check, state, name: nameOf(key) }), codeOf("PATCH", path, body, yaml));
  return true;
}
