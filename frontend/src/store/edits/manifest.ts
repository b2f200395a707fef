// An object's manifest as the open what-if has it.

import { record, request, type Json } from "@/net/rest";
import { seenNow, whatIf } from "@/store/edits/whatIf.svelte";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";

/** An object's manifest, and the revision that it is of. */
export interface Seen {
  readonly manifest: Json;
  readonly revision: number;
}

/** Return what a shown manifest depends on: a form reads it again when any of these changes. */
export const manifestNews = (): readonly unknown[] => [live.pastShown, live.run, whatIf.parts, whatIf.givenWay, live.latest.events.findLast((event) => event.type === "Edit")?.revision];

/** Return an object's manifest as `manifestOf` does, and up to which revision it was seen. */
export async function seenOf(key: string): Promise<Seen> {
  const before = seenNow();
  const manifest = await manifestOf(key);
  const version = Number(record(manifest["metadata"] ?? {})["resourceVersion"] ?? 0);
  return { manifest, revision: Math.max(before, version) };
}

/** Return an object's manifest, or the policy document of a queue of YuniKorn, as the what-if has it: at its tick, else at the one shown. */
export async function manifestOf(key: string, signal?: AbortSignal): Promise<Json> {
  const query = { tick: whatIf.at ?? live.pastShown };
  return whatIf.with(key, record(await request("GET", `/sandboxes/${String(live.id)}/${objectPath(key)}`, { query, ...(signal ? { signal } : {}) })));
}
