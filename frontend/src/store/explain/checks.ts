// The admission checks of a workload and the worker clusters of its dispatch: what each has said and since when.

import { record, request, rowsOf } from "@/net/rest";
import type { Explanation, WorkloadRow } from "@/protocol/types";
import { explain } from "@/store/explain/explaining";
import { objectPath } from "@/store/live/server";

export type CheckAnswers = Pick<Explanation, "checks" | "clusters">;
export const NO_CHECKS: CheckAnswers = { checks: [], clusters: [] };

/** Return the checks of a workload and its worker clusters, now or at a tick of the past; none are empty lists. */
export async function fetchChecks(sandbox: string, row: WorkloadRow, tick: number | null): Promise<CheckAnswers> {
  if (tick === null && !(await hasChecks(sandbox, row.key))) return NO_CHECKS;
  return explain(sandbox, row.key, tick);
}

// Its status says so at less cost than an explanation.
async function hasChecks(sandbox: string, key: string): Promise<boolean> {
  const manifest = record(await request("GET", `/sandboxes/${sandbox}/${objectPath(key)}`));
  return rowsOf(record(manifest["status"] ?? {})["admissionChecks"]).length > 0;
}
