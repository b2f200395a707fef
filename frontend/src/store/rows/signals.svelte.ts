// What views read rows through: one signal a row, one for all rows of a kind.

import { dependsOn } from "@/lib/depends";
import type { AnyRow } from "@/protocol/types";

/** One row. While no view has read it, it changes without notifying anything: most rows are off screen. */
export class RowSignal {
  #row: AnyRow | undefined;
  #observed = false;
  #changes = 0;
  #version = $state(0);

  constructor(row: AnyRow | undefined) {
    this.#row = row;
  }
  get row(): AnyRow | undefined {
    this.observe();
    return this.#row;
  }
  set row(next: AnyRow | undefined) {
    this.#row = next;
    this.changed();
  }
  /** Depend on the row and on what is said of it. */
  observe(): void {
    this.#observed = true;
    dependsOn(this.#version);
  }
  changed(): void {
    if (this.#observed) this.#version = ++this.#changes;
  }
  /** The row, without depending on it. */
  get peek(): AnyRow | undefined {
    return this.#row;
  }
}

/** All rows of a kind: one signal however many of them change, so that what hangs on all is marked once. */
export class KindSignal {
  keys = $state.raw<readonly string[]>([]); // replaced when membership changes
  #changes = 0;
  #version = $state(0);

  /** Depend on every row of the kind. */
  observe(): void {
    dependsOn(this.#version);
  }
  changed(): void {
    this.#version = ++this.#changes;
  }
}
