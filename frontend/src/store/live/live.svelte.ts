// The open sandbox: its live rows, the rows of a chosen tick, and the lesson in it.

import { Refusal } from "@/net/rest";
import type { EventLine, LessonNews, ServiceStatus } from "@/protocol/types";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { pageAt, type Page } from "@/store/rows/page";
import { FollowedSandbox, type ChangeListener, type Notice } from "@/store/live/followed.svelte";
import { fetchEvents, fetchPast } from "@/store/live/server";

const NONE: ReadonlySet<string> = new Set();
const NOTHING = new RowStore();

class Live {
  /** The sandbox that is open, as the server keeps it up to date. */
  sandbox = $state.raw<FollowedSandbox | null>(null);
  service = $state.raw<ServiceStatus>({ type: "status", level: "live", message: "", said: null });
  /** The lesson that is held here, as the server last described it. */
  lesson = $state.raw<LessonNews | null>(null);
  past = $state.raw<RowStore | null>(null);
  pastTick = $state<number | null>(null);
  /** The tick that `past` is of. */
  pastShown = $state<number | null>(null);
  pastProblem = $state("");
  /** Counts the pasts that came whole: what was read of the one before may be of a run that was undone. */
  run = $state(0);
  /** What left a mark on the timeline before the events that came with the state. */
  earlier = $state.raw<readonly EventLine[]>([]);
  /** This reader follows a lesson: the page looks on. */
  follows = $state(false);
  readonly id = $derived(this.sandbox?.id ?? null);
  readonly latest = $derived(this.sandbox?.rows ?? NOTHING);
  readonly loaded = $derived(this.sandbox?.loaded ?? false);
  readonly connection = $derived(this.sandbox?.connection ?? "closed");
  readonly why = $derived(this.sandbox?.why ?? "");
  readonly lastMessageMs = $derived(this.sandbox?.lastMessageMs ?? 0);
  /** What the views show: the chosen tick, else now. */
  readonly shown = $derived(this.past ?? this.latest);
  /** The virtual time of it. */
  readonly nowMs = $derived(this.shown.sandbox?.tMs ?? 0);
  /** A real cluster is shown: what it did is not ours to change. */
  readonly real = $derived(this.latest.source !== "simulated");
  /** No what-if can be opened here: a lesson is followed. */
  readonly frozen = $derived(this.follows);
  /** The run itself can not be changed here: the tick is past, the cluster real, or a lesson is followed. */
  readonly fixed = $derived(this.past !== null || this.real || this.follows);
  readonly stack = $derived(this.shown.stack);
  readonly fairSharing = $derived(this.shown.fairSharing);
}

export const live = new Live();
const changeListeners = new Set<ChangeListener>();

/** Call a listener at every change of the live page, before it is shown. Returns the function that removes it. */
export function onChange(listener: ChangeListener): () => void {
  changeListeners.add(listener);
  return () => {
    changeListeners.delete(listener);
  };
}

/** Open a sandbox; the one before is closed. */
export function openSandbox(id: string): void {
  if (live.id === id) return;
  closeSandbox();
  live.sandbox = new FollowedSandbox(id, { changes: take, notice, past: () => (live.past === null ? null : live.pastShown) });
}

/** Close the open sandbox. */
export function closeSandbox(): void {
  live.sandbox?.close();
  live.sandbox = null;
  live.earlier = [];
  live.lesson = null;
  backToLive();
  live.past = null;
}

function notice(message: Notice): void {
  if (message.type === "lesson") takeLesson(message);
  else live.service = message;
}

/** Take in the state of a lesson, unless a newer one was taken in. */
export function takeLesson(news: LessonNews): void {
  const seen = live.lesson;
  if (news.running && seen?.running === true && news.version < seen.version) return;
  live.lesson = news.running || seen !== null ? news : null;
}

function take(before: Page, next: Page, keys: readonly string[], whole: boolean): void {
  for (const listener of changeListeners) listener(before, next, keys, whole);
  live.latest.markFresh(whole ? NONE : freshOf(before, next, keys));
  if (!whole) return;
  live.run++;
  live.earlier = [];
  void earlierMarks();
}

const MOST_TINTED = 40;
const FASTEST_TINTED = 4; // ticks a second; above it values swap without a sign

// Whose state just changed, for the tint; none when the world moves fast.
function freshOf(before: Page, next: Page, keys: readonly string[]): ReadonlySet<string> {
  const speed = live.latest.sandbox?.speed ?? 0;
  if (live.latest.sandbox?.playing === true && (speed === 0 || speed > FASTEST_TINTED)) return NONE;
  const moved = new Set<string>();
  for (const key of keys) {
    const now = next.rows.get(key);
    if (now?.kind !== "Workload") continue;
    const old = before.rows.get(key);
    if (old?.kind !== "Workload" || old.phase !== now.phase) moved.add(key);
    if (moved.size > MOST_TINTED) return NONE;
  }
  return moved.size === 0 ? NONE : moved;
}

const MARKED = "Preempt,NodeChange,Edit";

async function earlierMarks(): Promise<void> {
  const id = live.id;
  if (id === null) return;
  const found = await fetchEvents(id, { type: MARKED, limit: 5000 }).catch(() => []);
  if (live.id === id) live.earlier = found;
}

let pastAsked = 0;

/** Show a tick of the past; the live page goes on unseen. */
export async function showTick(tick: number): Promise<void> {
  const id = live.id;
  const asked = ++pastAsked;
  if (id === null) return;
  live.pastTick = tick;
  try {
    const [state, take] = await Promise.all([fetchPast(id, tick), live.sandbox?.answersAt(tick)]);
    if (asked !== pastAsked || live.id !== id) return;
    const before = live.past ?? new RowStore();
    before.show(pageAt(state, live.latest.page));
    [live.past, live.pastShown] = [before, tick];
    take?.();
    live.pastProblem = "";
  } catch (error) {
    if (asked !== pastAsked) return;
    live.pastProblem = error instanceof Refusal ? error.message : String(error);
  }
}

/** Show the newest state again. */
export function backToLive(): void {
  const asked = ++pastAsked;
  live.pastTick = null;
  live.pastProblem = "";
  if (live.past === null) return;
  const end = (): void => {
    if (asked === pastAsked) [live.past, live.pastShown] = [null, null];
  };
  if (live.sandbox === null) end();
  else live.sandbox.drawNewest(end);
}
