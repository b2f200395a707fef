// A lesson that is held: what the presenter shows, and who follows and guesses.

import { address, goInstead } from "@/lib/address.svelte";
import { keepHere, keptHere } from "@/lib/keep";
import { t } from "@/lib/words.svelte";
import { ask, gate, request } from "@/net/rest";
import type { Lesson as LessonAnswer, LessonNews } from "@/protocol/types";
import { attempt } from "@/store/live/intents";
import { live, takeLesson } from "@/store/live/live.svelte";

type Part = "presenter" | "follower" | null;

class Lesson {
  /** What this tab is in the lesson of the open sandbox. */
  part = $state<Part>(null);
  code = $state("");
  /** Whoever came by the code alone looks on and cannot fork. */
  guest = $state(false);
  /** A follower looks where the presenter looks, until they look around. */
  together = $state(true);
  /** This tab's guesses and the answers it saw, by stop; of the open sandbox. */
  guesses = $state.raw<Readonly<Record<number, number>>>({});
  own = $state.raw<ReadonlySet<number>>(new Set());
  readonly news = $derived(live.lesson?.running === true ? live.lesson : null);
  readonly held = $derived(this.news !== null && this.part !== null);
  readonly revealed = $derived(
    this.part === "follower" ? new Set(this.news?.revealed ?? []) : this.own,
  );
}

export const lesson = new Lesson();

// Who follows looks on: the page asks for no change, but for their own guesses.
gate.refuses = (path) => {
  const asks = (lesson.guest ? /\/lesson/ : /\/(lesson|fork)\b/).test(path) || !path.startsWith(`/sandboxes/${live.id ?? "-"}`);
  return lesson.part === "follower" && lesson.news !== null && !asks ? t(lesson.guest ? "lesson.guest" : "lesson.readOnly") : null;
};

let taken: string | null = null;

/** Find out what this tab is in the lesson of the open sandbox; call when it opens. */
export async function takePart(id: string): Promise<void> {
  // The bar that calls this comes and goes with the stage: its code and guesses stay.
  if (id !== taken) {
    taken = id;
    lesson.guesses = {};
    lesson.own = new Set();
    lesson.together = true;
    lesson.code = "";
  }
  lesson.part = keptHere(`presents.${id}`) !== null ? "presenter" : keptHere(`follows.${id}`) !== null ? "follower" : null;
  if (lesson.part === "follower") lesson.guest = await ask("Me", "GET", "/me").then((me) => me.guest, () => false);
  if (lesson.part !== null) await fetchLesson(id);
}

/** Ask for the lesson as it is now: after a reload, and when the connection is back. */
export async function fetchLesson(id: string): Promise<void> {
  const answer = await ask("Lesson", "GET", `/sandboxes/${id}/lesson`).catch(() => null);
  if (answer === null || live.id !== id) return;
  lesson.code = answer.code ?? "";
  const news = newsOf(answer);
  takeLesson(news);
  if (lesson.part === "presenter" && news.running) lesson.own = new Set([...lesson.own, ...news.revealed]);
}

function newsOf(answer: LessonAnswer): LessonNews {
  return { ...answer, type: "lesson" };
}

/** Hold a lesson in the open sandbox: from now on others may follow with the code. */
export async function openLesson(): Promise<void> {
  const id = live.id;
  if (id === null) return;
  const answer = await attempt(() => ask("Lesson", "POST", `/sandboxes/${id}/lesson`, { body: {} }));
  if (answer === null) return;
  keepHere(`presents.${id}`, "yes");
  lesson.part = "presenter";
  lesson.code = answer.code ?? "";
  takeLesson(newsOf(answer));
}

/** End it; followers are out. */
export async function endLesson(): Promise<void> {
  const id = live.id;
  if (id === null) return;
  await attempt(() => request("DELETE", `/sandboxes/${id}/lesson`));
  keepHere(`presents.${id}`, null);
  lesson.part = null;
}

/** Stop following; the sandbox stays open as long as one may look at it. */
export function leaveLesson(): void {
  if (live.id !== null) keepHere(`follows.${live.id}`, null);
  lesson.part = null;
}

/** Say what one expects at a stop; a follower's guess is counted. */
export function guess(stop: number, choice: number): void {
  lesson.guesses = { ...lesson.guesses, [stop]: choice };
  const id = live.id;
  const key = id === null ? null : keptHere(`follows.${id}`);
  if (lesson.part !== "follower" || lesson.news === null || key === null) return;
  void attempt(() => request("PUT", `/sandboxes/${id ?? ""}/lesson/followers/${key}`, { body: { stop, choice } }));
}

/** Reveal the answer of a stop, to the followers too. */
export function reveal(stop: number): void {
  lesson.own = new Set([...lesson.own, stop]);
}

let shown = "";

/** As presenter: let followers look here; the window with the notes leads nobody. */
export async function show(view: string, query: string): Promise<void> {
  const id = live.id;
  if (id === null || lesson.part !== "presenter" || lesson.news === null || address.query.has("notes")) return;
  const body = { view, query, revealed: [...lesson.own].sort((a, b) => a - b) };
  const asked = JSON.stringify([id, body]);
  if (asked === shown) return;
  shown = asked;
  await request("PUT", `/sandboxes/${id}/lesson`, { body }).catch(() => (shown = ""));
}

/** As follower: look where the presenter looks. */
export function lookAlong(): void {
  const { news } = lesson;
  // A second screen with the presenter's notes stays with them.
  if (live.id === null || lesson.part !== "follower" || news === null || !lesson.together || address.query.has("notes")) return;
  goInstead(`/s/${live.id}/${news.view}${news.query === "" ? "" : `?${news.query}`}`);
}

/** Return how many followers expect each choice of a stop. */
export function talliesOf(stop: number, choices: number): number[] {
  const counts = new Array<number>(choices).fill(0);
  for (const tally of lesson.news?.tallies ?? []) {
    if (tally.stop === stop && tally.choice < choices) counts[tally.choice] = tally.count;
  }
  return counts;
}

/** Return how many followers guessed at a stop. */
export function guessedAt(stop: number): number {
  const here = (lesson.news?.tallies ?? []).filter((tally) => tally.stop === stop);
  return here.reduce((sum, tally) => sum + tally.count, 0);
}
