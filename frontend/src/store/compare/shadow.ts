// The decisions of a real cluster beside this engine's: asked for, in words, opened.

import { go, hrefOf } from "@/lib/address.svelte";
import { clock } from "@/lib/times";
import { t, type Word } from "@/lib/words.svelte";
import { ask } from "@/net/rest";
import type { Agreement, AgreementAt, Create, Opened, ShadowStep } from "@/protocol/types";
import { attempt } from "@/store/live/intents";

const WHAT: Readonly<Record<string, Word>> = {
  "not decided": "shadow.what.none",
  "another decision first": "shadow.what.first",
  "preempts instead": "shadow.what.preempts",
  "admits instead": "shadow.what.admits",
  "another queue": "shadow.what.queue",
  "another count": "shadow.what.count",
  "another flavor": "shadow.what.flavor",
  "another reason": "shadow.what.reason",
  "other victims": "shadow.what.victims",
};

/** Ask how the newest decisions of a twin compare. */
export function fetchAgreement(sandbox: string, signal: AbortSignal): Promise<Agreement> {
  return ask("Agreement", "GET", `/sandboxes/${sandbox}/shadow`, { signal });
}

/** Ask for both sides of one decision, and the smallest world of it. */
export function openDecision(sandbox: string, event: number, signal: AbortSignal): Promise<Opened> {
  return ask("Opened", "GET", `/sandboxes/${sandbox}/shadow/${event}`, { signal });
}

/** Make the smallest world a sandbox and go there. */
export async function openWorld(opened: Opened): Promise<void> {
  const items = opened.decision.smallest.documents;
  const files = [{ name: "smallest.json", text: JSON.stringify({ apiVersion: "v1", kind: "List", items }) }];
  const body = { files, policy: opened.policy } satisfies Create;
  const made = await attempt(() => ask("Created", "POST", "/sandboxes", { body }));
  if (made !== null) go(hrefOf(made.id, "board"));
}

/** Return what differs, in words. */
export function differenceText(what: string): string {
  const word = WHAT[what];
  return word === undefined ? what : t(word);
}

/** Return "98.5%", "100%" only where all agree. */
export function percentText(agree: number, judged: number): string {
  if (judged === 0 || agree === judged) return "100%";
  return `${(Math.floor((1000 * agree) / judged) / 10).toFixed(1)}%`;
}

export interface AgreementLine {
  readonly kind: string;
  readonly values: readonly (number | null)[];
}

/** Return the agreement over time as ticks and a line of percent per kind; null where nothing was decided. */
export function linesOf(times: readonly AgreementAt[]): { readonly ticks: readonly number[]; readonly lines: readonly AgreementLine[] } {
  const ticks = [...new Set(times.map((one) => one.tick))].sort((a, b) => a - b);
  const kinds = [...new Set(times.map((one) => one.kind))].sort();
  const value = (kind: string, tick: number): number | null => {
    const there = times.filter((one) => one.kind === kind && one.tick === tick);
    const judged = there.reduce((sum, one) => sum + one.judged, 0);
    return judged === 0 ? null : (100 * there.reduce((sum, one) => sum + one.agree, 0)) / judged;
  };
  return { ticks, lines: kinds.map((kind) => ({ kind, values: ticks.map((tick) => value(kind, tick)) })) };
}

/** Return a step as a sentence: who was admitted where, preempted for whom, or why it waits. */
export function stepText(step: ShadowStep): string {
  const name = step.subject.split("/").slice(1).join("/");
  const by = step.by.split("/").slice(1).join("/");
  if (step.kind === "admit") return t("shadow.step.admit", { name, queue: step.queue, flavors: step.flavors.join(", ") });
  if (step.kind === "preempt") return t("shadow.step.preempt", { name, by, reason: step.text });
  return step.kind === "wait" ? t("shadow.step.wait", { name, why: step.text }) : step.text;
}

export const timeOf = (step: ShadowStep): string => clock(step.tMs);
