// The open sandbox: its live page, the page of a chosen tick, and the line to it.

import { Line, type LineState } from "@/net/socket";
import { Refusal } from "@/net/rest";
import type { EventLine, LessonNews, ServerMessage } from "@/protocol/wire";
import { Book } from "@/store/book.svelte";
import { applyDiff, changedKeys, GapError, pageOf, touchedKeys, type Page } from "@/store/page";
import { fetchEvents, fetchPast, fetchSamples } from "@/store/server";

type Told = (before: Page, after: Page, changed: readonly string[]) => void;

const NONE: ReadonlySet<string> = new Set();

class Live {
  id = $state<string | null>(null);
  line = $state<LineState>("closed");
  why = $state("");
  service = $state.raw<{ level: string; message: string }>({ level: "live", message: "" });
  /** The lesson that is held here, as it was last told. */
  lesson = $state.raw<LessonNews | null>(null);
  loaded = $state(false);
  book = $state.raw(new Book());
  past = $state.raw<Book | null>(null);
  pastTick = $state<number | null>(null);
  pastProblem = $state("");
  lastHeardMs = $state(0);
  /** What left a mark on the timeline before the events that came with the state. */
  earlier = $state.raw<readonly EventLine[]>([]);
  /** Keys whose state just changed, for the tint; empty when the world moves fast. */
  fresh = $state.raw(NONE);
  /** What the views show: the chosen tick, else now. */
  readonly shown = $derived(this.past ?? this.book);
  /** The virtual time of it. */
  readonly nowMs = $derived(this.shown.sandbox?.tMs ?? 0);
  readonly stack = $derived(this.shown.sandbox?.stack ?? "kueue");
  readonly fairSharing = $derived(this.shown.sandbox?.fairSharing ?? false);
}

export const live = new Live();
let line: Line | null = null;
let page: Page | null = null;
const told = new Set<Told>();

/** Hear of every change of the live page, before it is shown. Returns the way out. */
export function onChange(listener: Told): () => void {
  told.add(listener);
  return () => {
    told.delete(listener);
  };
}

/** Open a sandbox; the one before is let go. */
export function openSandbox(id: string): void {
  if (live.id === id) return;
  closeSandbox();
  live.id = id;
  line = new Line(id, {
    message: take,
    since: () => page?.revision ?? null,
    state: (state, why) => {
      live.line = state;
      live.why = why;
    },
  });
}

/** Let the open sandbox go. */
export function closeSandbox(): void {
  line?.close();
  line = null;
  page = null;
  live.id = null;
  live.loaded = false;
  live.earlier = [];
  live.lesson = null;
  live.book = new Book();
  backToLive();
}

/** Take in one message; false asks for a whole state. */
export function take(message: ServerMessage): boolean {
  live.lastHeardMs = Date.now();
  switch (message.type) {
    case "page_state":
      show(pageOf(message, page ?? undefined), null);
      void earlierSamples(message.samples[0]?.tick ?? 0);
      void earlierMarks();
      return true;
    case "diff":
      return takeDiff(message);
    case "status":
      live.service = { level: message.level, message: message.message };
      return true;
    case "lesson":
      takeLesson(message);
      return true;
    case "resync":
      return false;
  }
}

/** Take in what is told of a lesson, unless something newer was heard. */
export function takeLesson(news: LessonNews): void {
  const seen = live.lesson;
  if (news.running && seen?.running === true && news.version < seen.version) return;
  live.lesson = news.running || seen !== null ? news : null;
}

function takeDiff(diff: Extract<ServerMessage, { type: "diff" }>): boolean {
  if (page === null) return false;
  if (diff.revision <= page.revision) return true; // seen twice is harmless
  try {
    show(applyDiff(page, diff), touchedKeys(diff));
    return true;
  } catch (error) {
    if (error instanceof GapError) return false;
    throw error;
  }
}

function show(next: Page, changed: readonly string[] | null): void {
  const before = page ?? next;
  const keys = changed ?? changedKeys(live.book.page, next);
  for (const listener of told) listener(before, next, keys);
  page = next;
  live.fresh = changed === null ? NONE : freshOf(before, next, keys);
  live.book.show(next, keys);
  live.loaded = true;
}

const MOST_TINTED = 40;
const FASTEST_TINTED = 4; // ticks a second; above it values swap without a sign

function freshOf(before: Page, next: Page, keys: readonly string[]): ReadonlySet<string> {
  const speed = live.book.sandbox?.speed ?? 0;
  if (live.book.sandbox?.playing === true && (speed === 0 || speed > FASTEST_TINTED)) return NONE;
  const moved = keys.filter((key) => {
    const [old, now] = [before.rows.get(key), next.rows.get(key)];
    return now?.kind === "Workload" && (old?.kind !== "Workload" || old.phase !== now.phase);
  });
  return moved.length > MOST_TINTED || moved.length === 0 ? NONE : new Set(moved);
}

// The state carries the newest curves only; the scrubber wants the whole run.
async function earlierSamples(first: number): Promise<void> {
  if (first <= 1 || live.id === null) return;
  const id = live.id;
  const earlier = await fetchSamples(id, first - 1).catch(() => []);
  if (live.id !== id || page === null || earlier.length === 0) return;
  const fresh = page.samples.filter((sample) => sample.tick >= first);
  page = { ...page, samples: [...earlier.filter((s) => s.tick < first), ...fresh] };
  live.book.show(page, []);
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
    const state = await fetchPast(id, tick);
    if (asked !== pastAsked || live.id !== id) return;
    const before = live.past ?? new Book();
    before.show({ ...pageOf(state), samples: live.book.samples, events: live.book.events });
    live.past = before;
    live.pastProblem = "";
  } catch (error) {
    if (asked !== pastAsked) return;
    live.pastProblem = error instanceof Refusal ? error.message : String(error);
  }
}

/** Show the newest state again. */
export function backToLive(): void {
  pastAsked++;
  live.past = null;
  live.pastTick = null;
  live.pastProblem = "";
}
