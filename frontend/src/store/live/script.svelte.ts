// A lesson that is written by playing: moments are marked where the cursor is.

import { language, translated } from "@/lib/words.svelte";
import { ask, Refusal } from "@/net/rest";
import type { Checkpoint, Scenario, Script } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

/** A stop while it is written, in the language of the page. */
export interface Draft {
  atMs: number;
  shownMs: number | null;
  say: string;
  ask: string;
  choices: string[];
  right: number | null;
  answer: string;
  notes: string;
  spot: string[];
  /** The stop as it is kept: it has texts in other languages, and what is not written here. */
  was: Checkpoint | null;
}

type Texts = Readonly<Record<string, string>>;

/** Return a moment that is marked now, at the tick that is shown. */
export function marked(): Draft {
  return { atMs: live.shown.sandbox?.tMs ?? 0, shownMs: null, say: "", ask: "", choices: [], right: null, answer: "", notes: "", spot: [], was: null };
}

/** Return the stops of a scenario as drafts. */
export function draftsOf(scenario: Scenario): Draft[] {
  return scenario.checkpoints.map((stop) => ({
    atMs: stop.atMs,
    shownMs: stop.shownMs,
    say: translated(stop.say),
    ask: translated(stop.ask),
    choices: stop.choices.map((one) => translated(one)),
    right: stop.right,
    answer: translated(stop.answer),
    notes: translated(stop.notes),
    spot: [...stop.spot],
    was: stop,
  }));
}

/** Return what is sent for drafts of a lesson as it is kept.
 *
 * A text that was not changed keeps all its languages. One that was has the language of the page, and English, which
 * every lesson has: what it said in others is no translation of it.
 */
export function scriptOf(title: string, drafts: readonly Draft[], kept: Scenario | null): Script {
  const own = kept !== null && translated(kept.summary) !== translated(kept.title);
  return {
    title: said(title, kept?.title),
    ...(own ? { summary: kept.summary } : {}),
    checkpoints: drafts.toSorted((a, b) => a.atMs - b.atMs).map(stopOf),
  };
}

function stopOf({ was, ...draft }: Draft): Script["checkpoints"][number] {
  const choices = draft.choices.map((words, index) => ({ words, index })).filter((one) => one.words.trim() !== "");
  const right = choices.findIndex((one) => one.index === draft.right);
  return {
    at: `${draft.atMs}ms`,
    ...(draft.shownMs === null ? {} : { shown: `${draft.shownMs}ms` }),
    say: said(draft.say, was?.say),
    ask: said(draft.ask, was?.ask),
    choices: choices.map((one) => said(one.words, was?.choices[one.index])),
    right: right < 0 ? null : right,
    answer: said(draft.answer, was?.answer),
    notes: said(draft.notes, was?.notes),
    spot: draft.spot,
    ...(was === null ? {} : { beside: was.beside, until: `${was.untilMs}ms`, switch: was.switch }),
  };
}

function said(words: string, was: Texts | undefined): Texts {
  const text = words.trim();
  if (text === "") return {};
  return was !== undefined && text === translated(was).trim() ? was : { en: text, [language()]: text };
}

/** Return the lesson of a sandbox; null where it has none. Throws Refusal. */
export async function fetchScript(id: string): Promise<Scenario | null> {
  try {
    return await ask("Scenario", "GET", `/sandboxes/${id}/script`);
  } catch (error) {
    if (error instanceof Refusal && error.code === 404) return null;
    throw error;
  }
}

/** Keep a lesson with its sandbox. */
export function saveScript(id: string, script: Script): Promise<Scenario> {
  return ask("Scenario", "PUT", `/sandboxes/${id}/script`, { body: script });
}
