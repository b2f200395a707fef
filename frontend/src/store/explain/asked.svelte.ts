// The answer to a question about one object, asked again as the world goes on.

import { dependsOn } from "@/lib/depends";
import { live } from "@/store/live/live.svelte";

const PAUSE_MS = 2500; // between two questions while the world ticks

type Read<T> = (sandbox: string, key: string, tick: number | null, signal: AbortSignal) => Promise<T>;

/** What is answered about one object, kept up to date while a component lives. */
export class Asked<T> {
  answer = $state.raw<T | null>(null);
  problem = $state("");
  #asked = "";
  #askedMs = 0;

  readonly #read: Read<T>;

  /** Follow what `key` names; call while a component is being made. */
  constructor(key: () => string, read: Read<T>) {
    this.#read = read;
    $effect(() => {
      const of = key();
      const tick = live.pastTick;
      dependsOn(live.shown.sandbox?.tick, live.run);
      if (of === "" || live.id === null) return;
      return this.#ask(live.id, of, tick);
    });
  }

  #ask(sandbox: string, key: string, tick: number | null): () => void {
    const same = this.#asked === `${key} ${tick}`;
    if (!same) this.answer = null;
    this.#asked = `${key} ${tick}`;
    const wait = same ? Math.max(0, this.#askedMs + PAUSE_MS - Date.now()) : 0;
    const stop = new AbortController();
    const timer = setTimeout(() => void this.#fetch(sandbox, key, tick, stop.signal), wait);
    return () => {
      clearTimeout(timer);
      if (this.#asked !== `${key} ${tick}`) stop.abort();
    };
  }

  async #fetch(sandbox: string, key: string, tick: number | null, signal: AbortSignal): Promise<void> {
    this.#askedMs = Date.now();
    try {
      const found = await this.#read(sandbox, key, tick, signal);
      if (this.#asked !== `${key} ${tick}`) return;
      this.answer = found;
      this.problem = "";
    } catch (error) {
      if (this.#asked === `${key} ${tick}` && !signal.aborted) {
        this.problem = error instanceof Error ? error.message : String(error);
      }
    }
  }
}
