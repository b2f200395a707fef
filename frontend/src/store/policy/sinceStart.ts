// What of the configuration is not as it was when the run began.

import type { AnyRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";
import { fetchPast } from "@/store/live/server";
import { settingChanges, type SettingChange } from "@/store/rows/configuration";
import { pageOf, type Page } from "@/store/rows/page";

/** Return the page of the first tick that is kept. */
export async function fetchStart(id: string): Promise<Page> {
  return pageOf(await fetchPast(id, live.latest.sandbox?.firstTick ?? 0));
}

/** Return what was set otherwise in queues and cohorts since a page; what cluster and workloads do is no setting. */
export function changedSince(start: Page, now: Page): SettingChange[] {
  return settingChanges(queuesIn(start), queuesIn(now));
}

const KINDS: ReadonlySet<string> = new Set(["ClusterQueue", "Cohort", "Queue"]);

function queuesIn(page: Page): Map<string, AnyRow> {
  return new Map([...page.rows].filter(([, row]) => KINDS.has(row.kind)));
}
