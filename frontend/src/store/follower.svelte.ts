// A second sandbox beside the open one: its page, kept live by its own line.

import { Line, type LineState } from "@/net/socket";
import type { ServerMessage } from "@/protocol/wire";
import { Book } from "@/store/book.svelte";
import { applyDiff, changedKeys, GapError, joinSamples, pageOf, touchedKeys, type Page } from "@/store/page";
import { fetchSamples } from "@/store/server";

/** One followed sandbox; `close` lets it go. */
export class Follower {
  readonly id: string;
  readonly book = new Book();
  line = $state<LineState>("connecting");
  loaded = $state(false);
  readonly #line: Line;
  #page: Page | null = null;

  constructor(id: string) {
    this.id = id;
    this.#line = new Line(id, {
      message: (message) => this.#take(message),
      since: () => this.#page?.revision ?? null,
      state: (state) => (this.line = state),
    });
  }

  close(): void {
    this.#line.close();
  }

  #take(message: ServerMessage): boolean {
    if (message.type === "page_state") {
      this.#show(pageOf(message, this.#page ?? undefined), null);
      void this.#earlier(message.samples[0]?.tick ?? 0);
      return true;
    }
    if (message.type !== "diff") return message.type !== "resync";
    if (this.#page === null) return false;
    if (message.revision <= this.#page.revision) return true;
    try {
      this.#show(applyDiff(this.#page, message), touchedKeys(message));
      return true;
    } catch (error) {
      if (error instanceof GapError) return false;
      throw error;
    }
  }

  #show(next: Page, changed: readonly string[] | null): void {
    this.book.show(next, changed ?? changedKeys(this.book.page, next));
    this.#page = next;
    this.loaded = true;
  }

  async #earlier(first: number): Promise<void> {
    if (first <= 1) return;
    const earlier = await fetchSamples(this.id, first - 1).catch(() => []);
    if (this.#page === null || earlier.length === 0) return;
    const rest = this.#page.samples.filter((sample) => sample.tick >= first);
    this.#show({ ...this.#page, samples: joinSamples(earlier, rest) }, []);
  }
}
