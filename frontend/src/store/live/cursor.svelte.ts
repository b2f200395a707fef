// Time is a film with one cursor: play and step move what is shown. What is recorded is shown
// again up to its head, the newest tick; new ticks are computed there and nowhere else.

import { address, ask } from "@/lib/address.svelte";
import { compute, computeUntil, pause, play } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { fetchEvents } from "@/store/live/server";

const LOOK_MS = 10;
const FASTEST_MS = 50; // between two recorded ticks, at full speed

class Cursor {
  /** What is recorded is played. */
  replaying = $state(false);
  /** What is shown moves by itself. */
  readonly playing = $derived(live.pastTick === null ? live.latest.sandbox?.playing === true : this.replaying);
}

export const cursor = new Cursor();
let plays = 0;

/** Play what is shown, or stop it, whichever it does not do. */
export function togglePlay(): void {
  if (live.pastTick === null) void (cursor.playing ? pause() : play());
  else if (cursor.replaying) halt();
  else void replay();
}

/** Stop what is played of what is recorded. */
export function halt(): void {
  plays++;
  cursor.replaying = false;
}

// Tick after tick as fast as the run goes; at the head it plays on.
async function replay(): Promise<void> {
  const mine = ++plays;
  cursor.replaying = true;
  while (mine === plays && address.tick !== null) {
    const began = performance.now();
    if (move()) {
      halt();
      if (live.latest.sandbox?.playing !== true) void play();
      return;
    }
    const speed = live.latest.sandbox?.speed ?? 1;
    const until = began + Math.max(FASTEST_MS, speed > 0 ? 1000 / speed : 0);
    while (mine === plays && live.pastProblem === "" && (performance.now() < until || live.pastShown !== address.tick) && live.pastTick !== null) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
    if (live.pastProblem !== "") break;
  }
  if (mine === plays) cursor.replaying = false; // somebody went to the head, or it cannot be shown
}

/** Move the cursor over recorded ticks; returns whether it is at the head now. */
function move(ticks = 1): boolean {
  const next = nextTick(address.tick ?? Infinity, ticks, live.latest.sandbox?.tick ?? 0);
  ask({ tick: next === null ? null : String(next) });
  return next === null;
}

/** Return the recorded tick so far after another; null for the head. */
export function nextTick(at: number, ticks: number, head: number): number | null {
  return at + ticks >= head ? null : at + ticks;
}

/** Go one tick on: to one that is recorded, or at the head to a new one. */
export function step(): void {
  if (live.pastTick === null) void compute();
  else {
    halt();
    move();
  }
}

/** Go on to the next decision of one of these types, about one subject if named: recorded, or still to come. */
export async function stepUntil(type: string | string[], subject?: string): Promise<void> {
  const { id, pastTick } = live;
  halt();
  if (id !== null && pastTick !== null) {
    const query = { type: [type].flat().join(","), fromTick: pastTick + 1, newest: "false", limit: 1, ...(subject === undefined ? {} : { subject }) };
    const [found] = await fetchEvents(id, query).catch(() => []);
    if (live.id !== id || live.pastTick !== pastTick) return; // the reader went elsewhere meanwhile
    move(found === undefined ? Infinity : found.tick - pastTick);
    if (found !== undefined) return;
  }
  await computeUntil(type, subject);
}
