// One sandbox that the server keeps up to date here: its socket, its page, its rows.

import { SandboxSocket, type SocketState } from "@/net/socket";
import type { ServerMessage } from "@/protocol/types";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { applyDiff, changedKeys, GapError, joinSamples, pageOf, rewritesHistory, touchedKeys, type Page } from "@/store/rows/page";
import { fetchSamples } from "@/store/live/server";

/** What is neither rows nor a request for them: how the service is, and lessons. */
export type Notice = Exclude<ServerMessage, { type: "page_state" | "diff" | "resync" }>;

/** Called before the rows change. `whole`: the page came as a state, not as a diff. */
export type ChangeListener = (before: Page, after: Page, changed: readonly string[], whole: boolean) => void;

interface Listeners {
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
  #page: Page | null = null;

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
        return this.#takeDiff(message);
      case "resync":
        return false;
      default:
        this.#listeners.notice?.(message);
        return true;
    }
  }

  #takeDiff(diff: Extract<ServerMessage, { type: "diff" }>): boolean {
    if (this.#page === null) return false;
    if (diff.revision <= this.#page.revision) return true; // a repeated diff changes nothing
    try {
      this.#show(applyDiff(this.#page, diff), touchedKeys(diff));
      return !rewritesHistory(diff);
    } catch (error) {
      if (error instanceof GapError) return false;
      throw error;
    }
  }

  #show(next: Page, touched: readonly string[] | null): void {
    const keys = touched ?? changedKeys(this.rows.page, next);
    this.#listeners.changes?.(this.#page ?? next, next, keys, touched === null);
    this.#page = next;
    this.rows.show(next, keys);
    this.loaded = true;
  }

  // The state carries the newest curves only; charts and the scrubber want the whole run.
  async #earlier(first: number): Promise<void> {
    if (first <= 1) return;
    const earlier = await fetchSamples(this.id, first - 1).catch(() => []);
    if (this.#page === null || earlier.length === 0) return;
    const rest = this.#page.samples.filter((sample) => sample.tick >= first);
    this.#page = { ...this.#page, samples: joinSamples(earlier, rest) };
    this.rows.show(this.#page, []);
  }
}
