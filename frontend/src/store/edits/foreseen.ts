// What a drop or an edit would do, run on a copy: asked of the server, in one shape for every preview.

import { ask, type Json } from "@/net/rest";
import { span } from "@/lib/times";
import { t, withWords } from "@/lib/words.svelte";
import type { MoveOutcome, MoveVictim, PinOutcome, Preview, Victim } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";
import type * as Said from "@/store/live/said";

export interface Foreseen {
  readonly outcome: string; // "admitted", "bound", "waits", "inactive" or "ran"
  readonly tick: number | null;
  readonly position: number | null;
  readonly withinMs: number; // how far the copy ran, of virtual time
  readonly sentences: readonly string[]; // what is said nowhere else in the preview
  readonly effects: readonly string[]; // who gains and who loses, or that nothing changes
  readonly victims: readonly (MoveVictim | Victim)[];
  readonly shares: readonly { queue: string; before: string; after: string }[];
}

type Speech = typeof Said;

/** A merge patch of one object; kind "Policy" patches the policy document. */
export interface PatchEdit {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly patch: Json;
}

const LATE_MS = 30_000;

/** Wait for an answer, but not for ever. Throws an Error with the sentence to show. */
async function inTime<T>(signal: AbortSignal, asked: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(LATE_MS);
  try {
    return await asked(AbortSignal.any([signal, late]));
  } catch (error) {
    throw late.aborted && !signal.aborted ? new Error(t("drop.late", { span: span(LATE_MS) })) : error;
  }
}

/** Load what says the server's sentences in the reader's language: not loaded with the first view. */
export const speech = (): Promise<Speech> => withWords(import("@/store/live/said"));

/** Ask what a move would do. */
export async function foreseeMove(path: string, body: Json, signal: AbortSignal): Promise<Foreseen> {
  const found = await inTime(signal, (either) => ask("MoveOutcome", "POST", path, { body: { ...body, dryRun: true }, signal: either }));
  return ofMove(found, await speech());
}

function ofMove(found: MoveOutcome, { saidTexts }: Speech): Foreseen {
  const { outcome, tick, position, usage, usageSaid, effects, effectsSaid, victims, shares, ranFrom, ranTo } = found;
  return { outcome, tick, position, withinMs: ranTo - ranFrom, sentences: saidTexts(usageSaid, usage), effects: saidTexts(effectsSaid, effects), victims, shares };
}

/** Ask what pinning a pod would do. */
export async function foreseePin(path: string, body: Json, signal: AbortSignal): Promise<Foreseen> {
  const found: PinOutcome = await inTime(signal, (either) => ask("PinOutcome", "POST", path, { body: { ...body, dryRun: true }, signal: either }));
  const { saidTexts } = await speech();
  return { ...found, sentences: saidTexts(found.said, found.sentences), position: null, effects: [], withinMs: found.ranTo - found.ranFrom, shares: [] };
}

/** Ask what edits would do to everybody. */
export async function foreseeEdits(edits: readonly PatchEdit[], signal: AbortSignal): Promise<Foreseen> {
  const path = `/sandboxes/${String(live.id)}/whatif`;
  const found = await inTime(signal, (either) => ask("Preview", "POST", path, { body: { edits }, signal: either }));
  return ofEdits(found, await speech());
}

function ofEdits({ outcome, sentences, said, effects, effectsSaid }: Preview, { saidTexts }: Speech): Foreseen {
  const none = { outcome: "ran", tick: null, position: null, victims: [], shares: [] };
  if (outcome === null) return { ...none, withinMs: 0, sentences: saidTexts(said, sentences), effects: [] };
  const shares = outcome.shares.map((one) => ({ queue: one.name, before: shareText(one.before), after: shareText(one.after) }));
  const { tick, position, victims } = outcome;
  return { outcome: outcome.outcome, tick, position, victims, withinMs: outcome.ranToMs - outcome.ranFromMs, sentences: [], effects: saidTexts(effectsSaid, effects), shares };
}

// A share of null is that of a borrower of weight 0.
const shareText = (share: number | null): string => (share === null ? "inf" : String(share));
