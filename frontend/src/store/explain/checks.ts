// The admission checks of a workload: what each has said and since when, and which a reservation waits for.

import { record, request, rowsOf } from "@/net/rest";
import type { CheckRow, WorkloadRow } from "@/protocol/types";
import { explain } from "@/store/explain/explaining";
import { objectPath } from "@/store/live/server";

/** Return the checks of a workload, now or at a tick of the past; none is an empty list. */
export async function fetchChecks(sandbox: string, row: WorkloadRow, tick: number | null): Promise<readonly CheckRow[]> {
  if (tick === null && !(await hasChecks(sandbox, row.key))) return [];
  return (await explain(sandbox, row.key, tick)).checks;
}

// Its status says so at less cost than an explanation.
async function hasChecks(sandbox: string, key: string): Promise<boolean> {
  const manifest = record(await request("GET", `/sandboxes/${sandbox}/${objectPath(key)}`));
  return rowsOf(record(manifest["status"] ?? {})["admissionChecks"]).length > 0;
}
