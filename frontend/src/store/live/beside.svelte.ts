// What the server explains of the tick that is shown, drawn together with its rows.

import { untrack } from "svelte";

import { live } from "@/store/live/live.svelte";

/** Asks one thing of a tick. */
export type Question<T> = (sandbox: string, tick: number) => Promise<T>;

/** An answer of the tick that is shown, while a component lives: rows and answer change at once. */
export class Beside<T> {
  answer = $state.raw<T | null>(null);
  problem = $state("");
  #asks = 0;
  #taken = 0;

  /** Follow a question, none when null; another one is asked at once. Call while a component is being made. */
  constructor(question: () => Question<T> | null) {
    $effect(() => {
      const ask = question();
      const { sandbox } = live;
      if (ask === null || sandbox === null) return;
      return untrack(() => sandbox.accompany((tick) => this.#at(ask, sandbox.id, tick)));
    });
  }

  /** Forget the answer: it is of something else. */
  clear(): void {
    this.answer = null;
  }

  // An answer that was overtaken by a later one is not taken in.
  async #at(ask: Question<T>, sandbox: string, tick: number): Promise<() => void> {
    const mine = ++this.#asks;
    const [answer, problem] = await ask(sandbox, tick).then(
      (found): [T, string] => [found, ""],
      (error: unknown): [T | null, string] => [null, error instanceof Error ? error.message : String(error)],
    );
    return () => {
      if (mine < this.#taken) return;
      this.#taken = mine;
      this.problem = problem;
      if (problem === "") this.answer = answer;
    };
  }
}
