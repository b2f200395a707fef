// What people call an object: the name of the Job where a Workload came from one.

import { displayName } from "@/store/rows/cards";
import { nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

/** Return the name to show for a key; reactive to its row. */
export function displayNameOf(key: string): string {
  const row = key.startsWith("Workload/") ? live.shown.row(key) : undefined;
  return row?.kind === "Workload" ? displayName(row) : nameOf(key);
}
