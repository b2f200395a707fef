// The answer to "where could this pod go", asked again as the world goes on.

import { dependsOn } from "@/lib/depends";
import { live } from "@/store/live/live.svelte";
import { fetchNodeTable, type NodeTable } from "@/store/explain/scores";

const PAUSE_MS = 2500; // between two questions while the world ticks

/** One pod's table, kept up to date while a component lives. */
export class PodNodes {
  table = $state.raw<NodeTable | null>(null);
  problem = $state("");
  #asked = "";
  #askedMs = 0;

  /** Follow the pod that `key` names; call while a component is being made. */
  constructor(key: () => string) {
    $effect(() => {
      const pod = key();
      const tick = live.pastTick;
      dependsOn(live.shown.sandbox?.tick, live.run);
      if (pod === "" || live.id === null) return;
      return this.#ask(live.id, pod, tick);
    });
  }

  #ask(sandbox: string, pod: string, tick: number | null): () => void {
    const same = this.#asked === `${pod} ${tick}`;
    if (!same) this.table = null;
    this.#asked = `${pod} ${tick}`;
    const wait = same ? Math.max(0, this.#askedMs + PAUSE_MS - Date.now()) : 0;
    const stop = new AbortController();
    const timer = setTimeout(() => void this.#fetch(sandbox, pod, tick, stop.signal), wait);
    return () => {
      clearTimeout(timer);
      if (this.#asked !== `${pod} ${tick}`) stop.abort();
    };
  }

  async #fetch(sandbox: string, pod: string, tick: number | null, signal: AbortSignal): Promise<void> {
    this.#askedMs = Date.now();
    try {
      const found = await fetchNodeTable(sandbox, pod, tick, live.stack === "yunikorn", signal);
      if (this.#asked !== `${pod} ${tick}`) return;
      this.table = found;
      this.problem = "";
    } catch (error) {
      if (this.#asked === `${pod} ${tick}` && !signal.aborted) {
        this.problem = error instanceof Error ? error.message : String(error);
      }
    }
  }
}
