// One sandbox that the server keeps up to date here: its socket, its page, its rows.

import { untrack } from "svelte";

import { Refresh } from "@/lib/refresh";
import { SandboxSocket, type SocketState } from "@/net/socket";
import type { ServerMessage } from "@/protocol/types";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { applyDiff, changedKeys, GapError, joinSamples, pageOf, rewritesHistory, sandboxOf, tickOf, touchedKeys, type Page } from "@/store/rows/page";
import { fetchSamples } from "@/store/live/server";

/** What is neither rows nor a request for them: how the service is, and lessons. */
export type Notice = Exclude<ServerMessage, { type: "page_state" | "diff" | "resync" }>;

/** Called before the rows change. `whole`: the page came as a state, not as a diff. */
export type ChangeListener = (before: Page, after: Page, changed: readonly string[], whole: boolean) => void;

/** Ask for what a view draws beside the rows of a tick; resolves to what takes the answer in. */
export type Companion = (tick: number) => Promise<() => void>;

const REST_MS = 1000; // between two questions while it ticks

interface Listeners {
  /** The tick of the past that is shown instead; null when none is. */
  readonly past?: () => number | null;
  readonly changes?: ChangeListener;
  readonly notice?: (notice: Notice) => void;
}

/** One followed sandbox; `close` ends its connection. */
export class FollowedSandbox {
  readonly id: string;
  readonly rows = new RowStore();
  connection = $state<SocketState>("connecting");
  why = $state(""); // the connection ended
  loaded = $state(false);
  lastMessageMs = $state(0);
  readonly #listeners: Listeners;
  readonly #socket: SandboxSocket;
  #page: Page | null = null; // the newest that came
  #waiting: { readonly page: Page; readonly touched: readonly string[] | null }[] = []; // came and are not drawn yet
  readonly #companions = new Set<Companion>();
  readonly #refresh = new Refresh(() => this.#drawTogether(), () => this.#page !== null && sandboxOf(this.#page)?.playing === true, REST_MS);

  constructor(id: string, listeners: Listeners = {}) {
    this.id = id;
    this.#listeners = listeners;
    this.#socket = new SandboxSocket(id, {
      message: (message) => this.take(message),
      since: () => this.#page?.revision ?? null,
      state: (state, why) => {
        this.connection = state;
        this.why = why;
      },
    });
  }

  close(): void {
    this.#socket.close();
    this.#refresh.end();
  }

  /** Draw no rows before this companion has its answer of the same tick. Returns the function that lets it go.
   *
   * A view that shows what the server explains draws one revision: the page waits for the
   * answers of all companions, and all of it is shown at once.
   */
  accompany(companion: Companion): () => void {
    this.#companions.add(companion);
    if (this.#past() === null) void this.#refresh.put();
    else void this.#answerPast();
    return () => {
      this.#companions.delete(companion);
      if (this.#companions.size === 0) this.#draw(this.#waiting.length);
    };
  }

  /** Ask all companions about a tick; resolves to what takes their answers in. */
  async answersAt(tick: number): Promise<() => void> {
    const takes = await Promise.all([...this.#companions].map((companion) => companion(tick)));
    return () => {
      for (const take of takes) take();
    };
  }

  /** Draw the newest page with its answers, and call `before` just before: another tick was shown. */
  drawNewest(before: () => void): void {
    if (this.#companions.size === 0 || this.#page === null) before();
    else void this.#drawTogether(before);
  }

  async #drawTogether(before?: () => void): Promise<void> {
    const page = this.#page;
    const take = page === null || (before === undefined && this.#past() !== null) ? undefined : await this.answersAt(tickOf(page));
    before?.();
    if (page !== null) this.#draw(this.#waiting.findIndex((one) => one.page === page) + 1);
    // A past tick that came to be shown meanwhile may not have asked who came after it.
    if (take !== undefined && this.#past() !== null) await this.#answerPast();
    else take?.();
  }

  async #answerPast(): Promise<void> {
    const past = this.#past();
    if (past === null) return;
    const take = await this.answersAt(past);
    if (this.#past() === past) take();
    else await this.#answerPast();
  }

  #past(): number | null {
    return this.#listeners.past?.() ?? null;
  }

  /** Take in one message; false asks for a whole state. */
  take(message: ServerMessage): boolean {
    this.lastMessageMs = Date.now();
    switch (message.type) {
      case "page_state":
        this.#show(pageOf(message), null);
        void this.#earlier(message.samples[0]?.tick ?? 0);
        return true;
      case "diff":
        if (this.#page === null) return false;
        if (message.revision <= this.#page.revision) return true; // a repeated diff changes nothing
        if (rewritesHistory(message)) return false; // another past: nothing of the page before belongs to it
        try {
          this.#show(applyDiff(this.#page, message), touchedKeys(message));
          return true;
        } catch (error) {
          if (error instanceof GapError) return false;
          throw error;
        }
      case "resync":
        return false;
      default:
        this.#listeners.notice?.(message);
        return true;
    }
  }

  #show(page: Page, touched: readonly string[] | null): void {
    this.#page = page;
    this.#waiting.push({ page, touched });
    if (this.#companions.size === 0) this.#draw(this.#waiting.length);
    else void this.#refresh.put();
  }

  // Show the last of so many pages that wait; those before it are never seen.
  #draw(count: number): void {
    const drawn = this.#waiting.splice(0, count);
    const next = drawn.at(-1)?.page;
    if (next === undefined) return;
    const whole = drawn.some((one) => one.touched === null);
    const before = untrack(() => this.rows.page);
    const keys = whole ? changedKeys(before, next) : [...new Set(drawn.flatMap((one) => one.touched ?? []))];
    this.#listeners.changes?.(this.loaded ? before : next, next, keys, whole);
    this.rows.show(next, keys);
    this.loaded = true;
  }

  // The state carries the newest curves only; charts and the scrubber want the whole run.
  async #earlier(first: number): Promise<void> {
    if (first <= 1) return;
    const earlier = await fetchSamples(this.id, first - 1).catch(() => []);
    if (this.#page === null || earlier.length === 0) return;
    const rest = this.#page.samples.filter((sample) => sample.tick >= first);
    this.#show({ ...this.#page, samples: joinSamples(earlier, rest) }, []);
  }
}
