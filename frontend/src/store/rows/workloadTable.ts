// Workloads as a table: narrowed and grouped; pure.

import type { AnyRow, WorkloadRow } from "@/protocol/types";

export const FIELDS = ["queue", "user", "phase", "priority"] as const;
export type WorkloadField = (typeof FIELDS)[number];

/** What rows must have; "" or a missing field asks for nothing. */
export interface Narrowing extends Readonly<Partial<Record<WorkloadField, string>>> {
  readonly words?: string;
}

/** Phases that are asked for as one: people ask who waits, not in which of three lists. */
const WAITING: ReadonlySet<string> = new Set(["pending", "inadmissible", "inactive"]);
export const PHASES = ["waiting", "reserved", "admitted", "finished", "evicted"] as const;

/** Return the value of a field as filters and groups write it. */
export function valueOf(row: WorkloadRow, field: WorkloadField): string {
  switch (field) {
    case "queue":
      return row.clusterQueue;
    case "user":
      return row.namespace;
    case "phase":
      return WAITING.has(row.phase) ? "waiting" : row.phase;
    case "priority":
      return String(row.priority);
  }
}

/** Return whether a workload waits for quota. */
export function waits(row: WorkloadRow): boolean {
  return WAITING.has(row.phase);
}

/** Return whether anything is asked for. */
export function narrows(by: Narrowing): boolean {
  return (by.words ?? "") !== "" || FIELDS.some((field) => (by[field] ?? "") !== "");
}

/** Return a test of rows; O(1) each. */
export function matcher(by: Narrowing): (row: WorkloadRow) => boolean {
  const words = (by.words ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const asked = FIELDS.filter((field) => (by[field] ?? "") !== "");
  return (row) =>
    asked.every((field) => (by[field] === "evicted" ? row.evictions > 0 : valueOf(row, field) === by[field])) &&
    (words.length === 0 || words.every((word) => textOf(row).includes(word)));
}

function textOf(row: WorkloadRow): string {
  return `${row.namespace} ${row.name} ${row.owner} ${row.clusterQueue}`.toLowerCase();
}

/** Return how long a workload has waited, or waited before it ran; virtual milliseconds. */
export function waitOf(row: WorkloadRow, nowMs: number): number {
  const end = waits(row) ? nowMs : (row.reservedMs ?? row.admittedMs ?? nowMs);
  return Math.max(0, end - row.createdMs);
}

/** Return rows parted by a field, each part in the order of its first row. */
export function parted(rows: readonly WorkloadRow[], field: WorkloadField): Map<string, WorkloadRow[]> {
  const parts = new Map<string, WorkloadRow[]>();
  for (const row of rows) {
    const value = valueOf(row, field);
    const part = parts.get(value);
    if (part === undefined) parts.set(value, [row]);
    else part.push(row);
  }
  return parts;
}

/** Return the values that rows have in a field, with their counts, in the order of the values. */
export function valuesOf(rows: readonly WorkloadRow[], field: WorkloadField): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(valueOf(row, field), (counts.get(valueOf(row, field)) ?? 0) + 1);
  const order = (a: string, b: string): number => (field === "priority" ? Number(b) - Number(a) : a < b ? -1 : 1);
  return [...counts].sort((a, b) => order(a[0], b[0]));
}

/** Return whether a row is a workload whose pods are still to run. */
export function waitsForPods(row: AnyRow): row is WorkloadRow {
  return row.kind === "Workload" && (row.phase === "pending" || row.phase === "inadmissible" || row.phase === "reserved");
}

/** Yield the workloads of a page that have no pods running yet. */
export function* waitingIn(rows: ReadonlyMap<string, AnyRow>): Generator<WorkloadRow> {
  for (const row of rows.values()) if (waitsForPods(row)) yield row;
}
