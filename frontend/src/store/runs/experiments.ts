// Experiments: listed, started, watched, cancelled.

import { API, ask, Refusal, request, type Json } from "@/net/rest";
import type { Experiment, OneExperiment, Run } from "@/protocol/types";
import { go, hrefOf } from "@/lib/address.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";

/** Return the experiments that this reader may see, newest first. */
export async function fetchExperiments(): Promise<readonly Experiment[]> {
  return (await ask("ExperimentList", "GET", "/experiments", { query: { limit: 50 } })).items;
}

/** Return one experiment; its lines are sorted, and its front drawn, by the server. */
export function fetchExperiment(id: string, sort: string, front: string): Promise<OneExperiment> {
  return ask("OneExperiment", "GET", `/experiments/${id}`, { query: { sort, front } });
}

const PAGE = 1000;

/** Return the runs that ended after the `after`th, and where to ask again. */
export async function fetchRuns(id: string, after: number): Promise<{ runs: Run[]; next: number }> {
  const runs: Run[] = [];
  for (let next = after; ; ) {
    const page = await ask("Results", "GET", `/experiments/${id}/results`, { query: { after: next, limit: PAGE } });
    runs.push(...page.items);
    next = page.next;
    if (page.items.length < PAGE) return { runs, next };
  }
}

/** Start an experiment: a document, or a text that holds one. Returns its id, or what is wrong. */
export async function startExperiment(given: Json | string): Promise<{ readonly id: string; readonly problems: readonly string[] }> {
  const body = typeof given === "string" ? { files: [{ name: "experiment.yaml", text: given }] } : { document: given };
  try {
    return { id: (await ask("Experiment", "POST", "/experiments", { body })).id, problems: [] };
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
    const made = await ask("Sandbox", "POST", `/experiments/${id}/runs/${run}/open`, { body: { tick } });
    go(hrefOf(made.id));
  });
}

/** Return the address that answers with every run as CSV. */
export function csvAddress(id: string): string {
  return `${API}/experiments/${id}/results.csv`;
}
