// What views read rows through: one signal a value, one for all rows of a kind.

import { dependsOn } from "@/lib/depends";

/** One value, as a row. While no view has read it, it changes without notifying anything: most rows are off screen. */
export class Signal<T> {
  #value: T;
  #observed = false;
  #changes = 0;
  #version = $state(0);

  constructor(value: T) {
    this.#value = value;
  }
  get value(): T {
    this.observe();
    return this.#value;
  }
  set value(next: T) {
    this.#value = next;
    this.changed();
  }
  /** Depend on the value and on what is said of it. */
  observe(): void {
    this.#observed = true;
    dependsOn(this.#version);
  }
  changed(): void {
    if (this.#observed) this.#version = ++this.#changes;
  }
  /** The value, without depending on it. */
  get peek(): T {
    return this.#value;
  }
}

/** All rows of a kind: one signal however many of them change, so that what hangs on all is marked once. */
export class KindSignal extends Signal<null> {
  keys = $state.raw<readonly string[]>([]); // replaced when membership changes

  constructor() {
    super(null);
  }
}
