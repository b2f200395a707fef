// Which preemptions this reader has not looked at yet.

import type { View } from "@/lib/address.svelte";
import type { EventLine } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

class Seen {
  #upTo = $state(-1);
  #sandbox = $state<string | null>(null);

  /** Return how many preemptors have acted, up to the tick shown, since the preemption view was last open. */
  unseen(view: View): number {
    const fresh = live.shown.events.filter((event) => event.type === "Preempt" && this.#isNew(event));
    return view === "preemptions" ? 0 : new Set(fresh.map((e) => `${e.by}@${e.tick}`)).size;
  }

  #isNew(event: EventLine): boolean {
    return live.id !== this.#sandbox || event.revision > this.#upTo;
  }

  /** Remember that everything up to now was seen. */
  look(): void {
    this.#sandbox = live.id;
    this.#upTo = live.latest.page.revision;
  }
}

export const seenPreemptions = new Seen();
