// Branches side by side, as the server compares them: deltas, lives, first differences.

import { flag, list, number, record, request, text, type Json } from "@/net/rest";
import type { Way } from "@/store/runs/experiments";
import { items } from "@/store/live/server";

export type Fared = "same" | "earlier" | "later" | "never" | "only";

export interface ComparedBranch {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly tick: number;
}
export interface Decided {
  readonly type: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
}
/** The first decision that is not the same; null = nothing is decided there. */
export interface Difference {
  readonly tick: number;
  readonly ours: Decided | null;
  readonly theirs: Decided | null;
}
export interface Stretch {
  readonly state: string; // waiting, running, finished
  readonly fromMs: number;
  readonly untilMs: number | null;
}
export interface Life {
  readonly startedMs: number | null;
  readonly finishedMs: number | null;
  readonly evictions: number;
  readonly stretches: readonly Stretch[];
}
export interface Fare {
  readonly subject: string; // the key of its row
  readonly verdicts: readonly Fared[]; // one per other branch
  readonly lives: readonly (Life | null)[]; // one per branch
}
export interface Preempted {
  readonly tick: number;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}
export interface PreemptionChange {
  readonly same: number;
  readonly added: readonly Preempted[];
  readonly removed: readonly Preempted[];
}
export interface Total {
  readonly measure: string;
  readonly better: Way | null;
  readonly values: readonly (number | null)[];
  readonly deltas: readonly (number | null)[];
}
type Points = readonly (number | null)[];
export interface BranchCurves {
  readonly pending: Points;
  readonly running: Points;
  readonly waitP50Ms: Points;
  readonly utilisation: Readonly<Record<string, Points>>;
  readonly shares: Readonly<Record<string, Points>>;
  readonly used: Readonly<Record<string, Readonly<Record<string, Points>>>>;
}
/** The first branch is the base; what is "per other" leaves it out. */
export interface Comparison {
  readonly branches: readonly ComparedBranch[];
  readonly fromTick: number;
  readonly toTick: number;
  readonly sameSubjects: boolean;
  readonly differences: readonly (Difference | null)[];
  readonly counts: readonly Readonly<Record<Fared, number>>[];
  readonly fares: readonly Fare[];
  readonly moreFares: number;
  readonly preemptions: readonly PreemptionChange[];
  readonly ticks: readonly number[];
  readonly curves: readonly BranchCurves[];
  readonly totals: readonly Total[];
}

/** Return how sandboxes compare, up to a tick that all have reached. */
export async function fetchComparison(base: string, others: readonly string[], toTick: number): Promise<Comparison> {
  const query = { with: others.join(","), toTick };
  return comparisonOf(record(await request("GET", `/sandboxes/${base}/compare`, { query })));
}

/** Return how runs of an experiment compare, from their beginning to their ends. */
export async function fetchRunsCompared(experiment: string, runs: readonly number[]): Promise<Comparison> {
  return comparisonOf(record(await request("GET", `/experiments/${experiment}/compare`, { query: { runs: runs.join(",") } })));
}

function comparisonOf(item: Json): Comparison {
  const series = record(item["series"]);
  return {
    branches: items(item["branches"]).map((one) => ({ id: text(one["id"]), title: text(one["title"]), branch: text(one["branch"]), tick: number(one["tick"]) })),
    fromTick: number(item["fromTick"]),
    toTick: number(item["toTick"]),
    sameSubjects: flag(item["sameSubjects"]),
    differences: list(item["differences"]).map(differenceOf),
    counts: items(item["counts"]).map((one) => ({ same: number(one["same"]), earlier: number(one["earlier"]), later: number(one["later"]), never: number(one["never"]), only: number(one["only"]) })),
    fares: items(item["workloads"]).map(fareOf),
    moreFares: number(item["moreWorkloads"]),
    preemptions: items(item["preemptions"]).map((one) => ({ same: number(one["same"]), added: items(one["added"]).map(preemptedOf), removed: items(one["removed"]).map(preemptedOf) })),
    ticks: list(series["ticks"]).map(number),
    curves: items(series["branches"]).map(curvesOf),
    totals: items(item["totals"]).map((one) => ({ measure: text(one["measure"]), better: one["better"] === "low" || one["better"] === "high" ? one["better"] : null, values: pointsOf(one["values"]), deltas: pointsOf(one["deltas"]) })),
  };
}

const maybe = (value: unknown): number | null => (typeof value === "number" ? value : null);
const pointsOf = (value: unknown): (number | null)[] => list(value).map(maybe);
const mapped = <T>(value: unknown, read: (item: unknown) => T): Record<string, T> => Object.fromEntries(Object.entries(record(value)).map(([name, item]) => [name, read(item)]));

function decidedOf(value: unknown): Decided | null {
  if (value === null || value === undefined) return null;
  const item = record(value);
  return { type: text(item["type"]), subject: text(item["subject"]), by: text(item["by"]), reason: text(item["reason"]), message: text(item["message"]) };
}

function differenceOf(value: unknown): Difference | null {
  if (value === null) return null;
  const item = record(value);
  return { tick: number(item["tick"]), ours: decidedOf(item["ours"]), theirs: decidedOf(item["theirs"]) };
}

const FARED: readonly Fared[] = ["same", "earlier", "later", "never", "only"];

function fareOf(item: Json): Fare {
  const verdict = (value: unknown): Fared => FARED.find((one) => one === value) ?? "same";
  return { subject: text(item["subject"]), verdicts: list(item["verdicts"]).map(verdict), lives: list(item["timelines"]).map(lifeOf) };
}

function lifeOf(value: unknown): Life | null {
  if (value === null) return null;
  const item = record(value);
  const stretches = items(item["spans"]).map((one) => ({ state: text(one["state"]), fromMs: number(one["fromMs"]), untilMs: maybe(one["untilMs"]) }));
  return { startedMs: maybe(item["startedMs"]), finishedMs: maybe(item["finishedMs"]), evictions: number(item["evictions"]), stretches };
}

function preemptedOf(item: Json): Preempted {
  return { tick: number(item["tick"]), subject: text(item["subject"]), by: text(item["by"]), reason: text(item["reason"]) };
}

function curvesOf(item: Json): BranchCurves {
  return {
    pending: pointsOf(item["pending"]),
    running: pointsOf(item["running"]),
    waitP50Ms: pointsOf(item["waitP50Ms"]),
    utilisation: mapped(item["utilisation"], pointsOf),
    shares: mapped(item["shares"], pointsOf),
    used: mapped(item["used"], (one) => mapped(one, pointsOf)),
  };
}

/** Return the queue whose curves lie furthest apart; "" without queues. */
export function mostDifferent(curves: readonly BranchCurves[], of: "shares" | "used", resource: string): string {
  const [first, ...others] = curves;
  const pointsIn = (one: BranchCurves | undefined, queue: string): Points => (of === "shares" ? one?.shares[queue] : one?.used[queue]?.[resource]) ?? [];
  const gap = (queue: string): number => {
    const base = pointsIn(first, queue);
    return others.reduce((sum, other) => sum + pointsIn(other, queue).reduce<number>((all, value, at) => all + Math.abs((value ?? 0) - (base[at] ?? 0)), 0), 0);
  };
  const names = Object.keys((of === "shares" ? first?.shares : first?.used) ?? {});
  return names.map((name) => [name, gap(name)] as const).sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

/** Return the leaves of two documents that differ: path, ours, theirs. */
export function changedLeaves(ours: unknown, theirs: unknown, path = ""): (readonly [string, unknown, unknown])[] {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return [];
  const inner = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!inner(ours) || !inner(theirs)) return [[path, ours, theirs]];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return names.flatMap((name) => changedLeaves(ours[name], theirs[name], path === "" ? name : `${path}.${name}`));
}
