// Where a card stands on the board: its column, its section, its rank there; pure.

import type { AnyRow, ApplicationRow, PodRow, WorkloadRow } from "@/protocol/types";

export const SECTIONS = [
  "pending",
  "inadmissible",
  "inactive",
  "reserved",
  "admitted",
  "finished",
] as const;
export type Section = (typeof SECTIONS)[number];

export type CardRow = WorkloadRow | PodRow | ApplicationRow;

export interface Place {
  readonly column: string; // key of the queue's row, or "namespace/<name>"
  readonly section: Section;
  readonly rank: readonly (number | string)[];
}

export type Stack = "kube" | "kueue" | "yunikorn";

/** Return where a row's card stands, or null when it has none in this stack. */
export function placeOf(row: AnyRow, stack: Stack): Place | null {
  switch (row.kind) {
    case "Workload":
      return stack === "kueue" ? placeOfWorkload(row) : null;
    case "Application":
      return stack === "yunikorn" ? placeOfApplication(row) : null;
    case "Pod":
      return stack === "kube" ? placeOfPod(row) : null;
    default:
      return null;
  }
}

function placeOfWorkload(row: WorkloadRow): Place {
  const column = row.clusterQueue === "" ? "none" : `ClusterQueue//${row.clusterQueue}`;
  return { column, section: row.phase, rank: rankOf(row) };
}

// Waiting cards in queue order; running ones newest first, so arrivals are seen.
function rankOf(row: WorkloadRow): (number | string)[] {
  if (row.phase === "pending" || row.phase === "inadmissible" || row.phase === "inactive") {
    return [row.sticky ? 0 : 1, -row.priority, Number(row.orderUs), row.uid];
  }
  return [-(row.admittedMs ?? row.reservedMs ?? 0), row.name];
}

const APPLICATION_SECTIONS: Readonly<Record<string, Section>> = {
  New: "pending",
  Accepted: "pending",
  Starting: "reserved",
  Resuming: "reserved",
  Running: "admitted",
  Completing: "admitted",
  Completed: "finished",
};

function placeOfApplication(row: ApplicationRow): Place {
  const section = APPLICATION_SECTIONS[row.state] ?? "inadmissible";
  return { column: `Queue//${row.queue}`, section, rank: [row.submittedMs, row.name] };
}

const POD_SECTIONS: Readonly<Record<PodRow["phase"], Section>> = {
  gated: "inactive",
  pending: "pending",
  waiting: "reserved",
  bound: "admitted",
  running: "admitted",
  ready: "admitted",
  succeeded: "finished",
  failed: "inadmissible",
};

function placeOfPod(row: PodRow): Place {
  const section = POD_SECTIONS[row.phase];
  return { column: `namespace/${row.namespace}`, section, rank: [-row.priority, row.name] };
}

/** Return whether two ranks differ. */
export function sameRank(a: Place["rank"], b: Place["rank"]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** Compare two ranks, part by part; numbers before texts of the same place. */
export function compareRanks(a: Place["rank"], b: Place["rank"]): number {
  for (let index = 0; index < a.length; index++) {
    const left = a[index] ?? 0;
    const right = b[index] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
