// Which admission checks the ClusterQueues name: asked of the server for the first card that waits for one.

import { SvelteMap } from "svelte/reactivity";

import { list, record, request, rowsOf, text, type Json } from "@/net/rest";
import type { WorkloadRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";
import { checksNeeded, type ListedCheck } from "@/store/rows/cards";
import { TRANSPORT } from "@/store/rows/eventKinds";

class Edits {
  /** The revision of the newest edit, of which a queue's checks may be part. */
  readonly newest = $derived(live.latest.events.findLast((event) => event.type === "Edit" && !TRANSPORT.has(event.reason))?.revision ?? -1);
}
const edits = new Edits();
const known = new SvelteMap<string, readonly ListedCheck[]>(); // by sandbox and ClusterQueue
const asked = new Map<string, number>(); // the newest edit when it was asked for

/** Return the checks that a reservation needs; none while they are not known, and at a tick of the past. Reactive. */
export function checksOfReservation(row: WorkloadRow): readonly string[] {
  const { id } = live;
  if (row.phase !== "reserved" || live.past !== null || id === null) return [];
  const place = `${id} ${row.clusterQueue}`;
  const { newest } = edits;
  if (asked.get(place) !== newest) {
    asked.set(place, newest);
    request("GET", `/sandboxes/${id}/${objectPath(`ClusterQueue//${row.clusterQueue}`)}`).then(
      (manifest) => asked.get(place) === newest && known.set(place, listedOf(record(manifest))),
      () => undefined, // the card says it without names
    );
  }
  return checksNeeded(known.get(place) ?? [], row);
}

/** Return the checks that a ClusterQueue's manifest names. */
export function listedOf(manifest: Json): ListedCheck[] {
  const strategy = record(record(manifest["spec"] ?? {})["admissionChecksStrategy"] ?? {});
  return rowsOf(strategy["admissionChecks"]).map((check) => ({
    name: text(check["name"]),
    on: list(check["onFlavors"] ?? []).map(text),
  }));
}
