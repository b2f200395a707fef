// Which cards and queues match the filters of the board.

import type { WorkloadRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";
import { SECTIONS, type Section } from "@/store/rows/cardPositions";
import type { Lists } from "@/store/rows/columns.svelte";
import { FIELDS, matcher, type Narrowing } from "@/store/rows/workloadTable";

/** Return the queues that hold a match; O(workloads), once a diff while a filter is set. */
export function matchingQueues(by: Narrowing): ReadonlySet<string> {
  // A queue that is asked for by name is shown even when nothing stands in it.
  if (by.queue && !by.words && FIELDS.every((field) => field === "queue" || !by[field])) {
    return new Set([`ClusterQueue//${by.queue}`]);
  }
  const matches = matcher(by);
  const found = new Set<string>();
  for (const row of live.shown.sweep("Workload")) if (matches(row)) found.add(`ClusterQueue//${row.clusterQueue}`);
  return found;
}

/** Return the lists of a column with its matching cards alone. */
export function matchingLists(lists: Lists, by: Narrowing): Lists {
  const matches = matcher(by);
  const { rows } = live.shown.page;
  const keep = (key: string): boolean => matches(rows.get(key) as WorkloadRow);
  return Object.fromEntries(SECTIONS.map((section) => [section, lists[section].filter(keep)])) as Record<Section, string[]>;
}
