// Which preemptions this reader has not looked at yet.

import { keep, kept } from "@/lib/keep";
import type { View } from "@/lib/address.svelte";
import type { EventLine } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

const KEPT = "seen"; // of the sandbox looked at last, so that a reload does not count anew

class Seen {
  #upTo = $state(-1);
  #sandbox = $state<string | null>(null);

  constructor() {
    const [sandbox, upTo] = (kept(KEPT) ?? "").split(" ");
    if (sandbox && upTo) [this.#sandbox, this.#upTo] = [sandbox, Number(upTo)];
  }

  readonly #earlier = $derived(live.earlier.filter((event) => event.type === "Preempt"));

  /** Return how many preemptors have acted, up to the tick shown, since Decisions was last open. */
  unseen(view: View): number {
    const tick = live.shown.sandbox?.tick ?? Infinity;
    const known = [...this.#earlier, ...live.shown.events]; // some of them twice
    const fresh = known.filter((event) => event.type === "Preempt" && event.tick <= tick && this.#isNew(event));
    return view === "decisions" ? 0 : new Set(fresh.map((e) => `${e.by}@${e.tick}`)).size;
  }

  #isNew(event: EventLine): boolean {
    return live.id !== this.#sandbox || event.revision > this.#upTo;
  }

  /** Remember that everything up to now was seen. */
  look(): void {
    this.#sandbox = live.id;
    this.#upTo = live.latest.page.revision;
    keep(KEPT, `${live.id ?? ""} ${this.#upTo}`);
  }
}

export const seenPreemptions = new Seen();
