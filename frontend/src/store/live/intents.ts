// What a person can do: each intent asks the server once; the change comes as a diff.

import { API, record, Refusal, request, text, type Json } from "@/net/rest";
import { ask, go, hrefOf, type View } from "@/lib/address.svelte";
import { announce, dismiss, retell, toast, type ToastAct, type ToastCode } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import type { Rewind, Speed, StepRequest } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

/** Do a thing; a refusal becomes a toast with its places. Returns null when refused. */
export async function attempt<T>(doing: () => Promise<T>): Promise<T | null> {
  try {
    return await doing();
  } catch (error) {
    reportRefusal(error);
    return null;
  }
}

/** Show what was refused, and where. */
export function reportRefusal(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const refusal = error instanceof Refusal ? error : new Refusal(String(error), 0);
  const message = refusal.reason === "Unreachable" ? t("error.unreachable") : refusal.message;
  const places = refusal.causes.map((cause) => [cause.field, cause.message !== message && cause.message].filter(Boolean).join(": "));
  announce(message);
  toast({ tone: "error", text: message, detail: places.join("\n") });
}

const QUICK_S = 1; // what a worker does within this is shown when it is done

/** Post an action of the open sandbox; null when it was refused. */
export async function act(name: string, body: Json = {}): Promise<Json | null> {
  const id = live.id;
  if (id === null) return null;
  return attempt(async () => {
    const answer = await request("POST", `/sandboxes/${id}/actions/${name}`, { body });
    return record(answer ?? {});
  });
}

export const play = (): Promise<Json | null> => act("play");
export const pause = (): Promise<Json | null> => act("pause");
/** Compute so many new ticks after the newest. */
export const compute = (ticks = 1): Promise<Json | null> => act("step", { ticks } satisfies StepRequest);
/** Compute new ticks until a decision of one of these types, about one subject if named, and stop there. */
export const computeUntil = (type: string | string[], subject?: string): Promise<Json | null> =>
  act("step", { untilEvent: subject === undefined ? { type } : { type, subject } } satisfies StepRequest);
export const setSpeed = (speed: number): Promise<Json | null> => act("speed", { speed } satisfies Speed);
/** Undo the last edit; the note of that edit, with its Undo, gives way to one that says so. */
export const undo = (): Promise<Json | null> => takenBack("undo", t("act.undone"), { label: t("act.redo"), run: () => void redo() });
export const redo = (): Promise<Json | null> => takenBack("redo", t("act.redone"), { label: t("act.undo"), run: () => void undo() });

async function takenBack(name: "undo" | "redo", sentence: string, back: ToastAct): Promise<Json | null> {
  const answer = await runAgain(name);
  if (answer === null) return null;
  announce(sentence);
  toast({ tone: "note", text: sentence, acts: [back] });
  return answer;
}

/** Let a worker undo or redo; what takes long is shown with how far it is, and may be stopped. */
async function runAgain(name: "undo" | "redo"): Promise<Json | null> {
  const id = live.id;
  if (id === null) return null;
  const stopped = new AbortController();
  const shown: number[] = [];
  let place = "";
  const stop = (): void => {
    stopped.abort();
    void attempt(() => request("DELETE", place.replace(API, "")));
  };
  const soFar = (body: unknown): void => {
    const told = record(body ?? {});
    place = text(told["place"]);
    const { done = 0, of = 0 } = record(told["soFar"] ?? {});
    const words = t(name === "undo" ? "act.undoing" : "act.redoing", { done: Number(done), of: Number(of) });
    if (shown.length > 0) shown.forEach((id) => { retell(id, words); });
    else {
      announce(words);
      shown.push(toast({ tone: "note", text: words, acts: [{ label: t("act.stop"), run: stop }] }));
    }
  };
  try {
    return await attempt(async () => {
      const asked = { body: {}, query: { wait: QUICK_S }, soFar, signal: stopped.signal };
      return record((await request("POST", `/sandboxes/${id}/actions/${name}`, asked)) ?? {});
    });
  } finally {
    shown.forEach(dismiss);
  }
}

/** Go back to a tick and on from there; who looked at the past looks at the present again, which that tick now is. */
export async function rewind(tick: number): Promise<Json | null> {
  const answer = await act("rewind", { tick } satisfies Rewind);
  if (answer !== null) ask({ tick: null });
  return answer;
}

/** Fork at a tick (now when left out) and open the branch. Returns its id. */
export async function fork(tick?: number, view: View = "board"): Promise<string | null> {
  const at = tick ?? live.pastTick;
  const answer = await act("fork", at === null ? {} : { tick: at });
  if (answer === null) return null;
  const id = text(answer["id"]);
  go(hrefOf(id, view));
  return id;
}

/** Return "gpu-17" after "gpu-16": the first number behind it that is free. */
export function nextName(model: string, taken: ReadonlySet<string>): string {
  const [, stem = model, digits = ""] = /^(.*?)(\d*)$/.exec(model) ?? [];
  const start = digits === "" ? 2 : Number(digits) + 1;
  const glue = digits === "" ? `${stem}-` : stem;
  for (let at = start; ; at++) {
    const name = `${glue}${String(at).padStart(digits.length, "0")}`;
    if (!taken.has(name)) return name;
  }
}

/** Say that an edit was made, with Undo and what it was, to copy. */
export function announceEdit(sentence: string, code: readonly ToastCode[]): void {
  const acts: ToastAct[] = [{ label: t("act.undo"), run: () => void undo() }];
  announce(sentence);
  toast({ tone: "note", text: sentence, acts, code });
}

/** Return the name in a key. */
export function nameOf(key: string): string {
  return key.split("/").slice(2).join("/");
}
