// A lesson that is written by playing: moments are marked where the cursor is.

import { ask } from "@/net/rest";
import { language } from "@/lib/words.svelte";
import { live } from "@/store/live/live.svelte";
import type { Scenario, Script } from "@/protocol/types";

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
}

const text = (titles: Readonly<Record<string, string>>): string => titles[language()] ?? titles["en"] ?? Object.values(titles)[0] ?? "";

/** Return a moment that is marked now, at the tick that is shown. */
export function marked(): Draft {
  return { atMs: live.shown.sandbox?.tMs ?? 0, shownMs: null, say: "", ask: "", choices: [], right: null, answer: "", notes: "", spot: [] };
}

/** Return the stops of a scenario as drafts. */
export function draftsOf(scenario: Scenario): Draft[] {
  return scenario.checkpoints.map((stop) => ({
    atMs: stop.atMs,
    shownMs: stop.shownMs,
    say: text(stop.say),
    ask: text(stop.ask),
    choices: stop.choices.map(text),
    right: stop.right,
    answer: text(stop.answer),
    notes: text(stop.notes),
    spot: [...stop.spot],
  }));
}

/** Return what is sent: texts in the language of the page, and in English, which every lesson has. */
export function scriptOf(title: string, drafts: readonly Draft[]): Script {
  const said = (words: string): Record<string, string> => (words.trim() === "" ? {} : { en: words.trim(), [language()]: words.trim() });
  return {
    title: said(title),
    checkpoints: drafts.toSorted((a, b) => a.atMs - b.atMs).map((draft) => ({
      at: `${draft.atMs}ms`,
      ...(draft.shownMs === null ? {} : { shown: `${draft.shownMs}ms` }),
      say: said(draft.say),
      ask: said(draft.ask),
      choices: draft.choices.filter((one) => one.trim() !== "").map(said),
      right: draft.right,
      answer: said(draft.answer),
      notes: said(draft.notes),
      spot: draft.spot,
    })),
  };
}

/** Return the lesson of a sandbox; null where it has none. */
export function fetchScript(id: string): Promise<Scenario | null> {
  return ask("Scenario", "GET", `/sandboxes/${id}/script`).catch(() => null);
}

/** Keep a lesson with its sandbox. */
export function saveScript(id: string, script: Script): Promise<Scenario> {
  return ask("Scenario", "PUT", `/sandboxes/${id}/script`, { body: script });
}
