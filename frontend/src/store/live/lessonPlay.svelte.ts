// Where a lesson stands: stop and answer are in the URL, the run is looked at and never moved back.

import { address, ask } from "@/lib/address.svelte";
import { dependsOn } from "@/lib/depends";
import { tickOf } from "@/lib/times";
import type { Checkpoint, Scenario } from "@/protocol/types";
import { act, attempt } from "@/store/live/intents";
import { lesson, reveal } from "@/store/live/lesson.svelte";
import { live } from "@/store/live/live.svelte";
import { fetchScript } from "@/store/live/script.svelte";

const FRAMES = 8; // from a stop to its answer
const FRAME_MS = 350;
const AFTER_MS = 10_000; // of virtual time, where no stop comes after it

class Play {
  scenario = $state.raw<Scenario | null>(null);
  known = $state(false);
  /** Whether the board is on its way to a stop or an answer. */
  moving = $state(false);
  readonly stops: readonly Checkpoint[] = $derived(this.scenario?.checkpoints ?? []);
  /** The index of the stop that the URL names. */
  readonly at: number = $derived(Math.max(0, Math.min(this.stops.length - 1, Number(address.query.get("stage") ?? address.query.get("stop") ?? 1) - 1)));
  readonly stop: Checkpoint | undefined = $derived(this.stops[this.at]);
  readonly answered: boolean = $derived(address.query.get("phase") === "answer");
}

export const lessonPlay = new Play();

/** Find the lesson of the open sandbox; call when it opens. It stays unknown where the server refuses, and the refusal is said. */
export async function findLesson(id: string): Promise<void> {
  lessonPlay.scenario = null;
  lessonPlay.known = false;
  const found = await attempt(async () => ({ scenario: await fetchScript(id) }));
  if (found === null || live.id !== id) return;
  lessonPlay.scenario = found.scenario;
  lessonPlay.known = true;
}

// A recording ends: what lies behind its last tick is looked at there.
const tickOfMs = (ms: number): number => Math.min(tickOf(ms, live.shown.tickMs), live.latest.sandbox?.lastTick ?? Infinity);

/** Return the tick of a stop, and the one at which its answer is seen. */
export function ticksOf(index: number): readonly [stop: number, answer: number] {
  const [stop, next] = [lessonPlay.stops[index], lessonPlay.stops[index + 1]];
  if (stop === undefined) return [0, 0];
  const from = tickOfMs(stop.atMs);
  const to = stop.shownMs ?? (next !== undefined && next.atMs > stop.atMs ? next.atMs : stop.atMs + AFTER_MS);
  return [from, Math.max(from, tickOfMs(to))];
}

let moves = 0;

/**
 * Show a stop, or its answer: the cursor goes there, the run is computed as far as it is not yet.
 * An answer that is moved to closes the bets first, then the world moves, and then it is read.
 */
export async function goTo(index: number, answer: boolean, moving = false): Promise<void> {
  const mine = ++moves;
  const { id } = live;
  const goes = (): boolean => mine === moves && live.id === id;
  const [from, to] = ticksOf(index);
  const target = answer ? to : from;
  if (answer) reveal(index);
  ask({ stage: String(index + 1), phase: answer && !moving ? "answer" : null }, true);
  lessonPlay.moving = true;
  await compute(target, goes);
  const steps = moving && answer && !still() ? Math.min(FRAMES, to - from) : 1;
  for (let step = 1; step <= steps && goes(); step++) {
    look(Math.round(from + ((target - from) * step) / steps));
    if (step < steps) await new Promise((done) => setTimeout(done, FRAME_MS));
  }
  if (answer && moving && goes()) ask({ phase: "answer" }, true);
  if (mine === moves) lessonPlay.moving = false;
}

const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Go on: from a question to its answer, from an answer to the next question; while the world moves to an answer, read it at once. */
export function forwards(): Promise<void> {
  const { at, stop, stops, answered } = lessonPlay;
  const hasAnswer = stop !== undefined && Object.keys(stop.answer).length > 0;
  if (!answered && hasAnswer) return goTo(at, true, !(lessonPlay.moving && lesson.revealed.has(at)));
  return at + 1 < stops.length ? goTo(at + 1, false) : Promise.resolve();
}

/** Go back the same way. */
export function backwards(): Promise<void> {
  const { at, answered, stops } = lessonPlay;
  if (answered) return goTo(at, false);
  if (at === 0) return goTo(0, false);
  return goTo(at - 1, Object.keys(stops[at - 1]?.answer ?? {}).length > 0);
}

// What is computed already is only looked at: a stop is never gone back to by a fork or a rewind.
async function compute(tick: number, goes: () => boolean): Promise<void> {
  const now = live.latest.sandbox?.tick ?? 0;
  // Also while a tick that passed is looked at, and in a recording, which then plays.
  if (now >= tick || lesson.part === "follower") return;
  if ((await act("step", { untilTick: Math.max(1, tick) })) === null) return;
  let began = false;
  while (goes() && (live.latest.sandbox?.tick ?? 0) < tick && live.connection === "live" && !live.latest.sandbox?.problem) {
    const plays = live.latest.sandbox?.playing === true;
    if (began && !plays) return; // somebody paused it
    began ||= plays;
    await new Promise((done) => setTimeout(done, 50));
  }
}

function look(tick: number): void {
  const now = live.latest.sandbox?.tick ?? 0;
  ask({ tick: tick < now ? String(tick) : null });
}

/** Keep the answers seen after a reload: what the URL shows was revealed. */
export function keepRevealed(): void {
  dependsOn(lessonPlay.at);
  if (lessonPlay.answered && lessonPlay.stop !== undefined && !lesson.own.has(lessonPlay.at)) reveal(lessonPlay.at);
}
