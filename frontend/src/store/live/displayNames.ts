// What people call an object: the name of the Job where a Workload came from one.

import { displayName } from "@/store/rows/cards";
import { nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

const MADE = /^job-(.*)-[a-z0-9]{5}$/; // how Kueue names the Workload of a Job

/** Return the name to show for a key; reactive to its row. Of a Workload that is not on the page the Job is read off its name. */
export function displayNameOf(key: string): string {
  if (!key.startsWith("Workload/")) return nameOf(key);
  const row = live.shown.row(key);
  return row?.kind === "Workload" ? displayName(row) : nameOf(key).replace(MADE, "$1");
}
