// Asking why and what if: the server runs each answer, the page only shows it.

import { list, number, record, request, text, type Json } from "@/net/rest";
import { go, hrefOf } from "@/lib/address.svelte";
import { preemptionOf, rowsOf, searchOf, type Preemption, type Search } from "@/store/explain/explanationTypes";
import { attempt } from "@/store/live/intents";
import { objectPath } from "@/store/live/server";

export interface Explanation {
  readonly sentences: readonly string[];
  readonly ahead: readonly string[];
  readonly search: Search | null; // the one that decided
}
interface Edit {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly patch: Json;
}
export interface Verdict {
  readonly id: string;
  readonly verdict: "yes" | "but" | "no";
  readonly subject: string;
  readonly now: string;
  readonly effect: string;
  readonly tick: number | null;
  readonly pause: readonly Edit[];
  readonly edits: readonly Edit[];
}
export interface Counterfactuals {
  readonly verdicts: readonly Verdict[];
  readonly tried: number;
  readonly questions: number;
}

function pathOf(sandbox: string, key: string): string {
  const [, namespace = "", name = ""] = key.split("/");
  return `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
}

/** Ask why a workload is where it is, now or at a tick of the past. */
export async function explain(sandbox: string, key: string, tick: number | null): Promise<Explanation> {
  const answer = record(await request("GET", pathOf(sandbox, key), { query: { tick } }));
  const searches = rowsOf(answer["searches"]);
  const decisive = answer["decisive"];
  const found = typeof decisive === "number" ? searches[decisive] : undefined;
  const waiting = record(answer["waiting"] ?? {});
  return {
    sentences: list(answer["sentences"] ?? []).map(text),
    ahead: list(waiting["ahead"] ?? []).map(text),
    search: found === undefined ? null : searchOf(found),
  };
}

/** Ask what would let a workload in; every verdict was run on a copy of the world. */
export async function counterfactuals(
  sandbox: string,
  key: string,
  tick: number | null,
  signal: AbortSignal,
): Promise<Counterfactuals> {
  const path = `${pathOf(sandbox, key)}/counterfactuals`;
  const answer = record(await request("GET", path, { query: { tick }, signal }));
  return {
    verdicts: rowsOf(answer["verdicts"]).map(verdictOf),
    tried: number(answer["tried"]),
    questions: number(answer["questions"]),
  };
}

function verdictOf(item: Json): Verdict {
  const verdict = text(item["verdict"]);
  const change = record(item["change"] ?? {});
  const outcome = record(item["outcome"] ?? {});
  return {
    id: text(item["id"]),
    verdict: verdict === "yes" || verdict === "but" ? verdict : "no",
    subject: text(item["subject"]),
    now: text(item["now"]),
    effect: text(item["effect"]),
    tick: typeof outcome["tick"] === "number" ? outcome["tick"] : null,
    pause: rowsOf(change["pause"]).map(editOf),
    edits: rowsOf(change["edits"]).map(editOf),
  };
}

function editOf(item: Json): Edit {
  return {
    kind: text(item["kind"]),
    namespace: text(item["namespace"]),
    name: text(item["name"]),
    patch: record(item["patch"] ?? {}),
  };
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
    const fork = record(await request("POST", `/sandboxes/${sandbox}/actions/fork`, { body }));
    const id = text(fork["id"]);
    await patchAll(id, verdict.pause);
    if (verdict.pause.length > 0) await request("POST", `/sandboxes/${id}/actions/step`, { body: { ticks: 1 } });
    await patchAll(id, verdict.edits);
    if (verdict.tick !== null && verdict.tick > number(fork["tick"])) {
      await request("POST", `/sandboxes/${id}/actions/step`, { body: { untilTick: verdict.tick } });
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
export async function fetchPreemption(sandbox: string, place: string): Promise<Preemption> {
  return preemptionOf(record(await request("GET", `/sandboxes/${sandbox}/preemptions/${place}`)));
}
