// An admission check answered by hand: the Workload's status is written as the check's controller would.

import { request, type Json } from "@/net/rest";
import { t } from "@/lib/words.svelte";
import { codeOf } from "@/store/edits/moves";
import { announceEdit, attempt, nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

export const ANSWERS = ["Ready", "Retry", "Rejected"] as const;
export type Answer = (typeof ANSWERS)[number];

export interface AnswerRequest {
  readonly path: string;
  readonly body: Json;
}

/** Return the request that an answer is; the checks that it does not name stay as they are. */
export function answerRequest(sandbox: string, key: string, check: string, state: Answer): AnswerRequest {
  const [, namespace = ""] = key.split("/");
  const place = `namespaces/${encodeURIComponent(namespace)}/workloads/${encodeURIComponent(nameOf(key))}`;
  return {
    path: `/sandboxes/${sandbox}/apis/kueue.x-k8s.io/v1beta2/${place}/status`,
    body: { status: { admissionChecks: [{ name: check, state }] } },
  };
}

/** Answer a check of a workload; says it as YAML and as a REST call, with Undo. Returns whether it was done. */
export async function answerCheck(key: string, check: string, state: Answer): Promise<boolean> {
  const { path, body } = answerRequest(String(live.id), key, check, state);
  if ((await attempt(() => request("PATCH", path, { body }))) === null) return false;
  const [kind = "", namespace = ""] = key.split("/");
  const yaml = { apiVersion: "kueue.x-k8s.io/v1beta2", kind, metadata: { namespace, name: nameOf(key) }, ...body };
  announceEdit(t("check.answered", { check, state, name: nameOf(key) }), codeOf("PATCH", path, body, yaml));
  return true;
}
