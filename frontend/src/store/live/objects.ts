// Manifests of single objects: their conditions, read as the real API shows them.

import { list, record, request, text } from "@/net/rest";
import { objectPath } from "@/store/live/server";

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly at: number | null; // virtual ms since the start of the run
}

/** Return the conditions of an object, newest first; `startMs` is when its run starts, of the epoch. */
export async function fetchConditions(sandbox: string, key: string, startMs: number): Promise<Condition[]> {
  const manifest = record(await request("GET", `/sandboxes/${sandbox}/${objectPath(key)}`));
  const status = record(manifest["status"] ?? {});
  const conditions = list(status["conditions"] ?? []).map((item) => {
    const condition = record(item);
    const at = Date.parse(text(condition["lastTransitionTime"]));
    return {
      type: text(condition["type"]),
      status: text(condition["status"]),
      reason: text(condition["reason"]),
      message: text(condition["message"]),
      at: Number.isNaN(at) ? null : at - startMs,
    };
  });
  return conditions.sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
}
