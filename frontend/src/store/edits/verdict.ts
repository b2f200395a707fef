// What a what-if makes different, by what people ask of it: who pays, who gains, and each life; pure.

import type { ChangeVerdict, GroupVerdict, PairVerdict, RunCourse, WorkloadVerdict } from "@/protocol/types";

/** What the rows of a verdict are parted by; each is in one of them, or equal within a tick. */
export const GROUPS = ["earlier", "later", "never", "other"] as const;
export type Group = (typeof GROUPS)[number];
const LATER: readonly string[] = ["endsLater", "evictedMore", "losesMore", "startsLater", "waitsLonger"];
const OTHER: readonly string[] = ["onlyWithout", "onlyWith", "moved", "elsewhere"];

/** Return which group a row is in, by the worst of its fates. */
export function groupOf({ fates: [first = "equal"] }: Pick<WorkloadVerdict, "fates">): Group | "equal" {
  if (first === "never" || first === "equal") return first;
  return LATER.includes(first) ? "later" : OTHER.includes(first) ? "other" : "earlier";
}

/** Return the colour of a row of the verdict: green for earlier, red for later or never, grey for neither.
 *
 * It is that of the time that stands there: who starts later and ends earlier is green, and stands among the later ones.
 */
export function inkOf(row: Pick<WorkloadVerdict, "fates" | "laterMs">): "pass" | "fail" | "second" {
  const group = groupOf(row);
  if (group === "other" || group === "equal") return "second";
  if (group === "never" || row.laterMs === 0) return group === "earlier" ? "pass" : "fail";
  return row.laterMs > 0 ? "fail" : "pass";
}

/** Return the rows of a group: those that the change moves furthest first. */
export function rowsIn(verdict: ChangeVerdict, group: Group): WorkloadVerdict[] {
  const rows = verdict.workloads.filter((row) => groupOf(row) === group);
  return rows.sort((a, b) => Math.abs(b.laterMs) - Math.abs(a.laterMs));
}

/** Return the rows that are preempted in one of the runs, those with the most of them first. */
export function preemptedRows(verdict: ChangeVerdict): WorkloadVerdict[] {
  const most = ({ without, changed }: WorkloadVerdict): number => Math.max(without?.preemptions ?? 0, changed?.preemptions ?? 0);
  return verdict.workloads.filter((row) => most(row) > 0).sort((a, b) => most(b) - most(a));
}

/** A span by which work is done later or earlier; `atLeast`: one side does not end before the horizon. */
export interface Shift {
  readonly ms: number;
  readonly atLeast: boolean;
}

/** Return by how much the work of a row is done later or earlier; null where it is not. */
export function shiftOf({ laterMs, start, end }: WorkloadVerdict): Shift | null {
  const open = (instant: WorkloadVerdict["start"]): boolean => instant === "never" || instant === "only";
  return laterMs === 0 ? null : { ms: Math.abs(laterMs), atLeast: open(start) || open(end) };
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

/** A part of a life, drawn from the begin to the horizon in parts of 100. */
export interface LifePart {
  readonly kind: "waits" | "runs" | "lost";
  readonly left: number;
  readonly width: number;
  readonly stopped: boolean; // it is evicted at its end
}

/** Return the parts of a life: what it waits, what it runs, and of that what must be done again. */
export function lifeParts(course: RunCourse | null, fromMs: number, toMs: number): LifePart[] {
  const part = (ms: number): number => Math.max(0, Math.min(100, (100 * (ms - fromMs)) / Math.max(1, toMs - fromMs)));
  return (course?.stretches ?? []).flatMap(({ runs, fromMs: start, toMs: end, lostMs, end: how }) => {
    const stopped = how === "preempted" || how === "evicted" || how === "failed" || (how === "restarts" && lostMs > 0);
    const parts: LifePart[] = [];
    const add = (kind: LifePart["kind"], from: number, to: number, last: boolean): void => {
      if (part(to) > part(from) || (last && stopped)) parts.push({ kind, left: part(from), width: part(to) - part(from), stopped: last && stopped });
    };
    if (!runs) add("waits", start, end, false);
    else {
      const kept = Math.max(start, end - lostMs);
      add("runs", start, kept, lostMs === 0);
      if (lostMs > 0) add("lost", kept, end, true);
    }
    return parts;
  });
}

/** What a team pays or gains, in time of its jobs. */
export interface Team {
  readonly group: GroupVerdict;
  readonly later: readonly WorkloadVerdict[]; // its rows that lose, the worst first
  readonly earlier: readonly WorkloadVerdict[];
  /** From the least to the most of all seeds; null where there is one seed. */
  readonly range: readonly [number, number] | null;
}

export const BY = ["queue", "cohort", "namespace", "priorityClass", "user"] as const;
export type By = (typeof BY)[number];

/** Return who pays, worst first: the teams of the first seed, and the range of each over all. */
export function teamsOf({ seeds }: PairVerdict, by: By): Team[] {
  const first = seeds[0]?.verdict;
  if (first === undefined) return [];
  return (first.by[by] ?? []).map((group) => {
    const rows = first.workloads.filter((row) => row[by] === group.name);
    const all = seeds.map(({ verdict }) => verdict.by[by]?.find((one) => one.name === group.name)?.laterMs ?? 0);
    const moved = (which: Group[]): WorkloadVerdict[] => rows.filter((row) => which.includes(groupOf(row) as Group)).sort((a, b) => Math.abs(b.laterMs) - Math.abs(a.laterMs));
    return { group, later: moved(["later", "never"]), earlier: moved(["earlier"]), range: seeds.length < 2 ? null : [Math.min(...all), Math.max(...all)] };
  });
}

/** One scale for all teams: where nothing differs stands, and the marks; in parts of 100, later to the left. */
export interface BillScale {
  readonly zero: number;
  readonly at: (laterMs: number) => number;
  readonly marks: readonly { readonly laterMs: number; readonly at: number }[];
}

/** Return the scale on which all teams, and their ranges, have room. */
export function scaleOf(teams: readonly Team[]): BillScale {
  const all = teams.flatMap(({ group, range }) => [group.laterMs, ...(range ?? [])]);
  let [most, least] = [Math.max(0, ...all), Math.min(0, ...all)];
  const room = Math.max(1, (most - least) * 0.12);
  [most, least] = [Math.max(most * 1.04, room), Math.min(least * 1.04, -room)];
  const at = (ms: number): number => (100 * (most - ms)) / (most - least);
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400].map((s) => s * 1000).find((ms) => (most - least) / ms <= 5) ?? 86_400_000 * Math.ceil((most - least) / 432_000_000);
  const marks = [];
  for (let ms = Math.ceil(least / step) * step; ms <= most; ms += step) marks.push({ laterMs: ms, at: at(ms) });
  return { zero: at(0), at, marks };
}

/** Return the rows to draw first: who never runs, then who is moved furthest, by team; the others are `left`. */
export function livesOf(verdict: ChangeVerdict, teams: readonly Team[], by: By, most: number): { readonly rows: readonly WorkloadVerdict[]; readonly left: readonly WorkloadVerdict[] } {
  const shown = verdict.workloads.filter((row) => groupOf(row) !== "equal");
  const weight = (row: WorkloadVerdict): number => (groupOf(row) === "never" ? 1e15 : 0) + Math.abs(row.laterMs);
  const ranked = shown.toSorted((a, b) => weight(b) - weight(a));
  const chosen = new Set(ranked.slice(0, most));
  const order = new Map(teams.map(({ group }, index) => [group.name, index]));
  const rows = [...chosen].sort((a, b) => (order.get(a[by]) ?? 0) - (order.get(b[by]) ?? 0) || weight(b) - weight(a));
  return { rows, left: ranked.slice(most) };
}

/** Return the links from a row back to the change. */
export function chainOf(verdict: ChangeVerdict, row: WorkloadVerdict): ChangeVerdict["links"] {
  const chain: ChangeVerdict["links"][number][] = [];
  for (let at = row.why ?? -1; at >= 0; ) {
    const link = verdict.links[at];
    if (link === undefined) break;
    chain.push(link);
    at = link.cause;
  }
  return chain;
}
