// Searches: the goal of a form as a document, what it would take, and its end.

import { API, ask, record, Refusal, request, rowsOf, type Json } from "@/net/rest";
import type { AdviceEstimate } from "@/protocol/types";
import { attempt } from "@/store/live/intents";

export type { Json };

/** Quota that may move: one resource of one flavor, and the smallest step of it. */
export interface FlavorResource {
  readonly flavor: string;
  readonly resource: string;
}
export interface QueueBound {
  readonly queue: string; // "" = all
  readonly seconds: string; // p95 wait
}
export interface GoalForm {
  readonly quota: Readonly<Record<string, string>>; // "flavor resource" -> step, "" = fixed
  readonly kinds: readonly string[]; // preemption, fairSharing, weight, queueingStrategy
  readonly objective: string; // "" = the smallest change that keeps what must hold
  readonly bounds: readonly QueueBound[];
  readonly loses: string; // percent
  readonly perHour: string; // preemptions
  readonly words: string; // a constraint per line
  readonly seeds: number;
  readonly runs: number;
  readonly horizon: string;
}

export const KINDS = ["preemption", "fairSharing", "weight", "queueingStrategy"] as const;
export const OBJECTIVES = ["workloads.meanMs", "workloads.p95Ms", "slowdownRatio", "preemptions", "workLostMs", "timeToFairMs", ""] as const;
export const BLANK_GOAL: GoalForm = {
  quota: {}, kinds: [], objective: "workloads.meanMs", bounds: [], loses: "10", perHour: "", words: "", seeds: 3, runs: 100, horizon: "5m",
};

/** Return every resource of every flavor that two or more ClusterQueues have. */
export function poolsOf(queues: readonly Json[]): FlavorResource[] {
  const found = new Map<string, FlavorResource & { count: number }>();
  for (const queue of queues)
    for (const group of rowsOf(record(queue["spec"])["resourceGroups"]))
      for (const flavor of rowsOf(group["flavors"]))
        for (const quota of rowsOf(flavor["resources"])) {
          const pool = { flavor: String(flavor["name"]), resource: String(quota["name"]) };
          const key = keyOf(pool);
          found.set(key, { ...pool, count: (found.get(key)?.count ?? 0) + 1 });
        }
  return [...found.values()].filter((pool) => pool.count > 1).map(({ flavor, resource }) => ({ flavor, resource }));
}

/** Return the name of a pool in a form. */
export function keyOf(pool: FlavorResource): string {
  return `${pool.flavor} ${pool.resource}`;
}

/** Return the document of a goal that begins at a base. */
export function goalDocument(form: GoalForm, title: string, base: Json): Json {
  return {
    apiVersion: "quotalab.dev/v1",
    kind: "Experiment",
    spec: {
      title,
      base,
      seeds: { count: form.seeds },
      horizon: form.horizon,
      ...(form.objective === "" ? {} : { objectives: [{ measure: form.objective, better: "low" }] }),
      search: { runs: form.runs, change: changesOf(form), constraints: constraintsOf(form) },
    },
  };
}

function changesOf(form: GoalForm): Json[] {
  const pools = Object.entries(form.quota).filter(([, step]) => step !== "");
  const quota = pools.map(([key, step]) => {
    const [flavor = "", resource = ""] = key.split(" ");
    return { quota: { flavor, resource, step, total: "keep" } };
  });
  const kinds = form.kinds.map((kind) => ({ [kind]: {} }));
  return [...quota, ...kinds];
}

function constraintsOf(form: GoalForm): (Json | string)[] {
  const bounds = form.bounds.filter((bound) => bound.seconds !== "").map((bound) => ({
    measure: bound.queue === "" ? "workloads.p95Ms" : `queues.${bound.queue}.p95Ms`,
    max: Number(bound.seconds) * 1000,
  }));
  const loses = form.loses === "" ? [] : [{ measure: "queues.*.meanMs", loses: Number(form.loses) / 100 }];
  const rate = form.perHour === "" ? [] : [{ measure: "preemptionsPerHour", max: Number(form.perHour) }];
  const words = form.words.split("\n").map((line) => line.trim()).filter(Boolean);
  return [...bounds, ...loses, ...rate, ...words];
}

/** Return what a search would take, or what is wrong with its goal. */
export async function estimateSearch(document: Json): Promise<{ readonly found: AdviceEstimate | null; readonly problems: readonly string[] }> {
  try {
    return { found: await ask("AdviceEstimate", "POST", "/experiments/estimate", { body: { document } }), problems: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const causes = error.causes.map((cause) => [cause.field, cause.message].filter(Boolean).join(": "));
    return { found: null, problems: causes.length > 0 ? causes : [error.message] };
  }
}

/** End a search with the best that it has found. */
export async function takeSearch(id: string): Promise<void> {
  await attempt(() => request("POST", `/experiments/${id}/take`));
}

/** Return the address of an answer's text: its patches, or a report of it. */
export function answerAddress(id: string, what: "patches.yaml" | "report.md" | "report.html"): string {
  return `${API}/experiments/${id}/${what}`;
}
