// What a what-if makes different, by what people ask of it: who starts earlier, later, never; pure.

import type { ChangeVerdict, RunCourse, WorkloadVerdict } from "@/protocol/types";

/** What the rows of a verdict are parted by; each is in one of them. */
export const GROUPS = ["earlier", "later", "never", "other"] as const;
export type Group = (typeof GROUPS)[number];

/** Return which group a row is in: what starts with the change alone starts earlier. */
export function groupOf({ start }: WorkloadVerdict): Group {
  if (start === "only") return "earlier";
  return start === "same" ? "other" : start;
}

/** Return the rows of a group: those that the change moves furthest first. */
export function rowsIn(verdict: ChangeVerdict, group: Group): WorkloadVerdict[] {
  const rows = verdict.workloads.filter((row) => groupOf(row) === group);
  const by = (row: WorkloadVerdict): number => shiftOf(row, verdict)?.ms ?? 0;
  return rows.sort((a, b) => by(b) - by(a));
}

/** Return the rows that are preempted in one of the runs, those with the most of them first. */
export function preemptedRows(verdict: ChangeVerdict): WorkloadVerdict[] {
  const most = ({ without, changed }: WorkloadVerdict): number => Math.max(without.preemptions, changed.preemptions);
  return verdict.workloads.filter((row) => most(row) > 0).sort((a, b) => most(b) - most(a));
}

/** A span by which a start moves; `atLeast`: one side does not start before the horizon. */
export interface Shift {
  readonly ms: number;
  readonly atLeast: boolean;
}

/** Return whether it runs at the begin and goes on in one of the runs alone: a place that is kept, or lost. */
export function isPlace({ without, changed }: WorkloadVerdict, fromMs: number): boolean {
  return [without, changed].some(({ startedMs }) => startedMs !== null && startedMs < fromMs);
}

/** Return by how much a start moves, either way; null where none does. */
export function shiftOf(row: WorkloadVerdict, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Shift | null {
  const { start, without, changed } = row;
  if (start === "same" || isPlace(row, fromMs)) return null;
  const [one, other] = [without.startedMs ?? toMs, changed.startedMs ?? toMs];
  return { ms: Math.abs(one - other), atLeast: without.startedMs === null || changed.startedMs === null };
}

/** Return the median of spans. It is a lower bound itself where an unfinished one is at or below it. */
export function median(shifts: readonly Shift[]): Shift | null {
  const ordered = shifts.toSorted((a, b) => a.ms - b.ms);
  const [low, high] = [ordered[(ordered.length - 1) >> 1], ordered[ordered.length >> 1]];
  if (low === undefined || high === undefined) return null;
  return { ms: (low.ms + high.ms) / 2, atLeast: ordered.some((one) => one.atLeast && one.ms <= high.ms) };
}

/** Return the largest of spans. */
export function largest(shifts: readonly Shift[]): Shift | null {
  const [last] = shifts.toSorted((a, b) => b.ms - a.ms || Number(b.atLeast) - Number(a.atLeast));
  return last ?? null;
}

/** One life drawn from the begin to the horizon, in parts of 100. */
export interface LifeBar {
  readonly waits: number; // how long it waits; 100: it does not start
  readonly runs: number; // how long it runs, from there on
}

/** Return the bar of a life: a start before the begin runs from its left end. */
export function lifeBar({ startedMs, finishedMs }: RunCourse, fromMs: number, toMs: number): LifeBar {
  const part = (ms: number): number => Math.max(0, Math.min(100, (100 * (ms - fromMs)) / Math.max(1, toMs - fromMs)));
  if (startedMs === null) return { waits: 100, runs: 0 };
  const waits = part(startedMs);
  return { waits, runs: part(finishedMs ?? toMs) - waits };
}
