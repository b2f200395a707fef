// The admission checks of a workload: what each has said and since when, and which a reservation waits for; pure but for the asking.

import { record, request, rowsOf, text, type Json } from "@/net/rest";
import type { CheckRow, WorkloadRow } from "@/protocol/types";
import { explain } from "@/store/explain/explaining";
import { objectPath } from "@/store/live/server";

export interface CheckLine extends CheckRow {
  readonly sinceMs: number | null; // null: not known of a tick of the past
}

/** Return the checks of a workload, now or at a tick of the past; none is an empty list. */
export async function fetchChecks(sandbox: string, row: WorkloadRow, tick: number | null): Promise<readonly CheckLine[]> {
  const manifest = tick === null ? record(await request("GET", `/sandboxes/${sandbox}/${objectPath(row.key)}`)) : null;
  const listed = manifest === null ? null : rowsOf(statusOf(manifest)["admissionChecks"]);
  if (listed?.length === 0) return [];
  return linesOf((await explain(sandbox, row.key, tick)).checks, listed ?? [], epochOf(manifest, row.createdMs));
}

/** Return the rows of an explanation with the time of each state, where the status has the same state. */
export function linesOf(checks: readonly CheckRow[], listed: readonly Json[], epoch: number): CheckLine[] {
  return checks.map((check) => {
    const same = listed.find((one) => one["name"] === check.name && one["state"] === check.state);
    const since = Date.parse(text(same?.["lastTransitionTime"])) - epoch;
    return { ...check, sinceMs: Number.isNaN(since) ? null : since };
  });
}

/** Return the wall time (ms) that virtual 0 stands for: the workload's creation is known in both. */
export function epochOf(manifest: Json | null, createdMs: number): number {
  const metadata = manifest === null ? {} : record(manifest["metadata"]);
  return Date.parse(text(metadata["creationTimestamp"])) - createdMs;
}

const statusOf = (manifest: Json): Json => record(manifest["status"] ?? {});
