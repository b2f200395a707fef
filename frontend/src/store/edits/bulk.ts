// The same edit for many workloads, as one change of the what-if.

import { t, type Word } from "@/lib/words.svelte";
import type { Part } from "@/store/edits/changes";
import { change } from "@/store/edits/whatIf.svelte";
import { nameOf } from "@/store/live/intents";

export type Bulk =
  | { readonly act: "hold" | "resume" | "remove" }
  | { readonly act: "move"; readonly queue: string }
  | { readonly act: "priority"; readonly priority: number };

const SAID: Readonly<Record<Bulk["act"], Word>> = {
  hold: "bulk.held",
  resume: "bulk.resumed",
  remove: "bulk.removed",
  move: "bulk.moved",
  priority: "bulk.prioritised",
};

/** Make an edit of each key. Returns whether the server took it. */
export function editAll(keys: readonly string[], bulk: Bulk): Promise<boolean> {
  const to = bulk.act === "move" ? bulk.queue : bulk.act === "priority" ? bulk.priority : "";
  return change([t(SAID[bulk.act], { n: keys.length, to })], keys.map((key) => partOf(key, bulk)));
}

/** Return what an edit of a workload is. */
export function partOf(key: string, bulk: Bulk): Part {
  const [kind = "", namespace = ""] = key.split("/");
  const of = { kind, namespace, name: nameOf(key) };
  if (bulk.act === "move") return { move: { ...of, to: { kind: "ClusterQueue", name: bulk.queue } } };
  if (bulk.act === "remove") return { delete: of };
  const spec = bulk.act === "priority" ? { priority: bulk.priority } : { active: bulk.act === "resume" };
  return { patch: { ...of, body: { spec } } };
}
