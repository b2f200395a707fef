// Experiments: started, watched, cancelled; each answer checked at this border.

import { API, flag, list, number, record, Refusal, request, text, type Json } from "@/net/rest";
import { go, hrefOf } from "@/lib/address.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";
import { items } from "@/store/live/server";

export type Way = "low" | "high";
export type ExperimentState = "running" | "done" | "cancelled";
export type RunState = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface ExperimentLine {
  readonly id: string;
  readonly title: string;
  readonly role: string;
  readonly state: ExperimentState;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly variants: readonly string[];
  readonly seeds: readonly string[];
  readonly horizonMs: number; // virtual
  readonly createdMs: number; // wall time
  readonly finishedMs: number | null;
}

/** A mean over seeds and its 95% interval; null with one run alone. */
export interface Interval {
  readonly count: number;
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface ResultLine {
  readonly variant: number; // place in `variants`
  readonly runs: number;
  readonly measures: Readonly<Record<string, Interval>>;
  readonly differences: Readonly<Record<string, Interval>>; // to the first variant
  readonly front: boolean;
}

export interface Promised {
  readonly variant: number;
  readonly text: string;
  readonly holds: boolean | null; // null: a simulation cannot decide it
}

export interface Experiment extends ExperimentLine {
  readonly document: Json;
  readonly objectives: readonly { readonly measure: string; readonly better: Way }[];
  readonly better: Readonly<Record<string, Way>>;
  readonly lines: readonly ResultLine[];
  readonly verdicts: readonly Promised[];
}

export interface RunLine {
  readonly number: number;
  readonly variant: number;
  readonly seed: string;
  readonly state: RunState;
  readonly hash: string;
  readonly tick: number | null; // where it ended
  readonly settled: boolean;
  readonly problems: readonly string[];
  readonly error: string;
  readonly measures: Readonly<Record<string, number>>;
}

/** Return the experiments that this reader may see, newest first. */
export async function fetchExperiments(): Promise<ExperimentLine[]> {
  return items(await request("GET", "/experiments", { query: { limit: 50 } })).map(lineOf);
}

/** Return one experiment; its lines are sorted, and its front drawn, by the server. */
export async function fetchExperiment(id: string, sort: string, front: string): Promise<Experiment> {
  const item = record(await request("GET", `/experiments/${id}`, { query: { sort, front } }));
  return {
    ...lineOf(item),
    document: record(item["document"]),
    objectives: items(item["objectives"]).map((one) => ({ measure: text(one["measure"]), better: wayOf(one["better"]) })),
    better: Object.fromEntries(Object.entries(record(item["better"])).map(([name, way]) => [name, wayOf(way)])),
    lines: items(item["lines"]).map(resultOf),
    verdicts: items(item["verdicts"]).map((one) => ({
      variant: number(one["variant"]),
      text: text(one["text"]),
      holds: typeof one["holds"] === "boolean" ? one["holds"] : null,
    })),
  };
}

const wayOf = (value: unknown): Way => (value === "high" ? "high" : "low");

function lineOf(item: Json): ExperimentLine {
  const state = text(item["state"]);
  return {
    id: text(item["id"]),
    title: text(item["title"]),
    role: text(item["role"]),
    state: state === "done" || state === "cancelled" ? state : "running",
    total: number(item["total"]),
    done: number(item["done"]),
    failed: number(item["failed"]),
    variants: list(item["variants"]).map(text),
    seeds: list(item["seeds"]).map(text),
    horizonMs: number(item["horizonMs"]),
    createdMs: Date.parse(text(item["createdAt"])) || 0,
    finishedMs: Date.parse(text(item["finishedAt"])) || null,
  };
}

function resultOf(item: Json): ResultLine {
  return {
    variant: number(item["variant"]),
    runs: number(item["runs"]),
    measures: intervalsOf(item["measures"]),
    differences: intervalsOf(item["differences"]),
    front: flag(item["front"]),
  };
}

function intervalsOf(value: unknown): Record<string, Interval> {
  const named = Object.entries(record(value)).map(([name, item]) => [name, intervalOf(record(item))] as const);
  return Object.fromEntries(named);
}

function intervalOf(item: Json): Interval {
  const end = (value: unknown): number | null => (typeof value === "number" ? value : null);
  return { count: number(item["count"]), mean: number(item["mean"]), low: end(item["low"]), high: end(item["high"]) };
}

const PAGE = 1000;

/** Return the runs that ended after the `after`th, and where to ask again. */
export async function fetchRuns(id: string, after: number): Promise<{ runs: RunLine[]; next: number }> {
  const runs: RunLine[] = [];
  for (let next = after; ; ) {
    const answer = record(await request("GET", `/experiments/${id}/results`, { query: { after: next, limit: PAGE } }));
    const page = items(answer).map(runOf);
    runs.push(...page);
    next = number(answer["next"]);
    if (page.length < PAGE) return { runs, next };
  }
}

const RUN_STATES: readonly RunState[] = ["waiting", "running", "done", "failed", "cancelled"];

function runOf(item: Json): RunLine {
  return {
    number: number(item["number"]),
    variant: number(item["variant"]),
    seed: text(item["seed"]),
    state: RUN_STATES.find((state) => state === item["state"]) ?? "waiting",
    hash: text(item["hash"]),
    tick: typeof item["tick"] === "number" ? item["tick"] : null,
    settled: flag(item["settled"]),
    problems: list(item["problems"]).map(text),
    error: text(item["error"]),
    measures: Object.fromEntries(Object.entries(record(item["measures"])).map(([name, value]) => [name, number(value)])),
  };
}

/** Start an experiment: a document, or a text that holds one. Returns its id, or what is wrong. */
export async function startExperiment(given: Json | string): Promise<{ readonly id: string; readonly problems: readonly string[] }> {
  const body = typeof given === "string" ? { files: [{ name: "experiment.yaml", text: given }] } : { document: given };
  try {
    return { id: text(record(await request("POST", "/experiments", { body }))["id"]), problems: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const causes = error.causes.map((cause) => [cause.line === null ? "" : t("load.line", { line: cause.line }), cause.field, cause.message].filter(Boolean).join(": "));
    return { id: "", problems: causes.length > 0 ? causes : [error.message] };
  }
}

/** Give up what has not ended; what has ended is kept. */
export async function cancelExperiment(id: string): Promise<void> {
  await attempt(() => request("POST", `/experiments/${id}/cancel`));
}

/** Remove an experiment with its results; sandboxes opened from it stay. */
export async function removeExperiment(id: string): Promise<boolean> {
  return (await attempt(() => request("DELETE", `/experiments/${id}`).then(() => true))) === true;
}

/** Open a run as a paused sandbox at a tick, or where it ended. */
export async function openRun(id: string, run: number, tick: number | null): Promise<void> {
  await attempt(async () => {
    const made = record(await request("POST", `/experiments/${id}/runs/${run}/open`, { body: { tick } }));
    go(hrefOf(text(made["id"])));
  });
}

/** Return the address that answers with every run as CSV. */
export function csvAddress(id: string): string {
  return `${API}/experiments/${id}/results.csv`;
}
