// The same edit for many workloads: one after the other, then one sentence and one Undo.

import { request } from "@/net/rest";
import { announce, toast } from "@/lib/say.svelte";
import { t, type Word } from "@/lib/words.svelte";
import { nameOf, reportRefusal, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";

export type Bulk =
  | { readonly act: "hold" | "resume" | "remove" }
  | { readonly act: "move"; readonly queue: string }
  | { readonly act: "priority"; readonly priority: number };

const DONE: Readonly<Record<Bulk["act"], Word>> = {
  hold: "bulk.held",
  resume: "bulk.resumed",
  remove: "bulk.removed",
  move: "bulk.moved",
  priority: "bulk.prioritised",
};

/** Do an edit for each key; stops at the first that is refused. Returns how many were done. */
export async function editAll(keys: readonly string[], bulk: Bulk): Promise<number> {
  let done = 0;
  try {
    for (const key of keys) {
      await editOne(key, bulk);
      done++;
    }
  } catch (error) {
    reportRefusal(error);
  }
  if (done > 0) report(done, bulk);
  return done;
}

function editOne(key: string, bulk: Bulk): Promise<unknown> {
  const base = `/sandboxes/${String(live.id)}`;
  const [, namespace = ""] = key.split("/");
  if (bulk.act === "move") {
    const body = { workload: `${namespace}/${nameOf(key)}`, to: `ClusterQueue/${bulk.queue}` };
    return request("POST", `${base}/actions/move`, { body });
  }
  const path = `${base}/${objectPath(key)}`;
  if (bulk.act === "remove") return request("DELETE", path);
  const spec = bulk.act === "priority" ? { priority: bulk.priority } : { active: bulk.act === "resume" };
  return request("PATCH", path, { body: { spec } });
}

function report(done: number, bulk: Bulk): void {
  const to = bulk.act === "move" ? bulk.queue : bulk.act === "priority" ? bulk.priority : "";
  const sentence = t(DONE[bulk.act], { n: done, to });
  announce(sentence);
  toast({ tone: "note", text: sentence, acts: [{ label: t("act.undo"), run: () => void undoAll(done) }] });
}

async function undoAll(times: number): Promise<void> {
  for (let at = 0; at < times; at++) if ((await undo()) === null) return;
}
