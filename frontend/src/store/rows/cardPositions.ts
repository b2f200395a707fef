// Where a card stands on the board: its column, its section, its rank there; pure.

import type { AnyRow, ApplicationRow, PodRow, WorkloadRow } from "@/protocol/types";

export const SECTIONS = ["waiting", "failed", "inactive", "reserved", "admitted", "finished"] as const;
export type Section = (typeof SECTIONS)[number];

/** The state of a card, as the icons know it. What stands in one section can be in several. */
export type CardState = WorkloadRow["phase"];

export interface CardPosition {
  readonly column: string; // key of the queue's row, or "namespace/<name>"
  readonly section: Section;
  readonly rank: readonly (number | string)[];
}

export type Stack = "kube" | "kueue" | "yunikorn";

/** Return where a row's card stands, or null when it has none in this stack. */
export function placeOf(row: AnyRow, stack: Stack): CardPosition | null {
  switch (row.kind) {
    case "Workload":
      return stack === "kueue" ? placeOfWorkload(row) : null;
    case "Application":
      return stack === "yunikorn" ? placeOfApplication(row) : null;
    case "Pod":
      if (stack === "yunikorn") return placeOfWaitingPod(row);
      return stack === "kube" ? placeOfPod(row) : null;
    default:
      return null;
  }
}

function placeOfWorkload(row: WorkloadRow): CardPosition {
  const column = row.clusterQueue === "" ? "none" : `ClusterQueue//${row.clusterQueue}`;
  return { column, section: sectionOf(row.phase), rank: rankOf(row) };
}

// Pending and inadmissible wait alike: the queue orders both, and shows the place among both.
function sectionOf(phase: WorkloadRow["phase"]): Section {
  return phase === "pending" || phase === "inadmissible" ? "waiting" : phase;
}

// Waiting cards in queue order; running ones newest first, so arrivals are seen.
function rankOf(row: WorkloadRow): (number | string)[] {
  if (row.phase === "pending" || row.phase === "inadmissible" || row.phase === "inactive") {
    return [row.sticky ? 0 : 1, -row.priority, Number(row.orderUs), row.uid];
  }
  return [-(row.admittedMs ?? row.reservedMs ?? 0), row.name];
}

const APPLICATION_STATES: Readonly<Record<string, CardState>> = {
  New: "pending",
  Accepted: "pending",
  Starting: "reserved",
  Resuming: "reserved",
  Running: "admitted",
  Completing: "admitted",
  Completed: "finished",
};

/** Return the state of a YuniKorn application's card. */
export function stateOfApplication(row: ApplicationRow): CardState {
  return APPLICATION_STATES[row.state] ?? "inadmissible";
}

function placeOfApplication(row: ApplicationRow): CardPosition {
  return { column: `Queue//${row.queue}`, section: heldIn(stateOfApplication(row)), rank: [row.submittedMs, row.name] };
}

const POD_STATES: Readonly<Record<PodRow["phase"], CardState>> = {
  gated: "inactive",
  pending: "pending",
  waiting: "reserved",
  bound: "admitted",
  running: "admitted",
  ready: "admitted",
  succeeded: "finished",
  failed: "inadmissible",
};

/** Return the state of a pod's card. */
export function stateOfPod(row: PodRow): CardState {
  return POD_STATES[row.phase];
}

function placeOfPod(row: PodRow): CardPosition {
  return { column: `namespace/${row.namespace}`, section: heldIn(stateOfPod(row)), rank: [-row.priority, row.name] };
}

// YuniKorn's applications hold their pods; one that waits for a node stands beside them.
function placeOfWaitingPod(row: PodRow): CardPosition | null {
  if (row.phase !== "pending" || row.queue === "") return null;
  return { column: `Queue//${row.queue}`, section: "waiting", rank: [Infinity, row.name] };
}

// What is refused there is over: it waits for nothing.
function heldIn(state: CardState): Section {
  if (state === "pending") return "waiting";
  return state === "inadmissible" ? "failed" : state;
}

/** Return whether two ranks are the same. */
export function sameRank(a: CardPosition["rank"], b: CardPosition["rank"]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** Compare two ranks, part by part; numbers before texts of the same place. */
export function compareRanks(a: CardPosition["rank"], b: CardPosition["rank"]): number {
  for (let index = 0; index < a.length; index++) {
    const left = a[index] ?? 0;
    const right = b[index] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
