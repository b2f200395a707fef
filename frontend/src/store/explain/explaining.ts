// Asking why and what if: the server runs each answer, the page only shows it.

import { ask, request } from "@/net/rest";
import type { Counterfactuals, Edit, Explanation, PodPreemption, Preemption, Verdict } from "@/protocol/types";
import { go, hrefOf } from "@/lib/address.svelte";
import { attempt } from "@/store/live/intents";
import { objectPath } from "@/store/live/server";

function pathOf(sandbox: string, key: string): string {
  const [, namespace = "", name = ""] = key.split("/");
  return `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
}

/** Ask why a workload is where it is, now or at a tick of the past. */
export function explain(sandbox: string, key: string, tick: number | null): Promise<Explanation> {
  return ask("Explanation", "GET", pathOf(sandbox, key), { query: { tick } });
}

/** Ask what would let a workload in; every verdict was run on a copy of the world. */
export function counterfactuals(
  sandbox: string,
  key: string,
  tick: number | null,
  signal: AbortSignal,
): Promise<Counterfactuals> {
  return ask("Counterfactuals", "GET", `${pathOf(sandbox, key)}/counterfactuals`, { query: { tick }, signal });
}

/** Fork, make the change there, run to where it shows, and open the branch. */
export async function showVerdict(
  sandbox: string,
  key: string,
  verdict: Verdict,
  tick: number | null,
): Promise<void> {
  await attempt(async () => {
    const body = tick === null ? {} : { tick };
    const fork = await ask("Sandbox", "POST", `/sandboxes/${sandbox}/actions/fork`, { body });
    const { id } = fork;
    const [pause, edits, until] = [verdict.change?.pause ?? [], verdict.change?.edits ?? [], verdict.outcome.tick];
    await patchAll(id, pause);
    if (pause.length > 0) await request("POST", `/sandboxes/${id}/actions/step`, { body: { ticks: 1 } });
    await patchAll(id, edits);
    if (until !== null && until > fork.tick) {
      await request("POST", `/sandboxes/${id}/actions/step`, { body: { untilTick: until } });
    }
    go(`${hrefOf(id, "board")}?sel=${encodeURIComponent(key)}`);
  });
}

async function patchAll(id: string, edits: readonly Edit[]): Promise<void> {
  for (const edit of edits) {
    const key = `${edit.kind}/${edit.namespace}/${edit.name}`;
    await request("PATCH", `/sandboxes/${id}/${objectPath(key)}`, { body: edit.patch });
  }
}

/** Return a preemption step by step: its tick run again with the search written down. */
export function fetchPreemption(
  sandbox: string,
  place: string,
  preemptor: string,
): Promise<Preemption | PodPreemption> {
  const answer = preemptor.startsWith("Pod/") ? "PodPreemption" : "Preemption";
  return ask(answer, "GET", `/sandboxes/${sandbox}/preemptions/${place}`);
}
