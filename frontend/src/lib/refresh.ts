// One question at a time, asked again when it changed meanwhile.

const LOOK_MS = 200;

/** Asks anew whenever it is put, one question at a time.
 *
 * After each it rests four times as long as that took, at least `restMs`, while `moves()`:
 * what stands still is asked about at once, as its last answer is not to be an old one.
 */
export class Refresh {
  readonly #ask: () => Promise<void>;
  readonly #moves: () => boolean;
  readonly #restMs: number;
  #busy = false;
  #again = false;
  #over = false;

  constructor(ask: () => Promise<void>, moves: () => boolean, restMs: number) {
    this.#ask = ask;
    this.#moves = moves;
    this.#restMs = restMs;
  }

  /** Ask, or once more when the question under way is answered. */
  async put(): Promise<void> {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    while (this.#again && !this.#over) {
      this.#again = false;
      const began = performance.now();
      await this.#ask();
      await this.#rest(performance.now() + Math.max(this.#restMs, 4 * (performance.now() - began)));
    }
    this.#busy = false;
  }

  /** Ask no more: who asked is gone. */
  end(): void {
    this.#over = true;
  }

  async #rest(until: number): Promise<void> {
    while (performance.now() < until && !this.#over && this.#moves()) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
  }
}
