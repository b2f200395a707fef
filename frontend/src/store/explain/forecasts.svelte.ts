// The forecast asked for last, as bands on the board and on the timeline: of what is shown, or of nothing.

import type { Forecast } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

/** When one workload starts: virtual ms from then; null is beyond the horizon. */
export interface Band {
  readonly low: number;
  readonly middle: number | null; // none where it is a guess
  readonly high: number | null;
  readonly sure: boolean; // there is enough history
  readonly short: string;
  readonly text: string;
}

interface Held {
  readonly sandbox: string;
  readonly revision: number;
  readonly tick: number;
  readonly nowMs: number;
  readonly horizonMs: number;
  readonly bands: ReadonlyMap<string, Band>;
}

class Forecasts {
  #held = $state.raw<Held | null>(null);

  /** What was forecast of the revision that is shown; two edits of one tick differ in it. */
  readonly current = $derived.by(() => {
    const held = this.#held;
    if (held === null || held.sandbox !== live.id || held.revision !== live.shown.page.revision) return null;
    return held.tick === live.shown.sandbox?.tick ? held : null;
  });

  /** Show a forecast as long as that revision is shown. */
  hold(sandbox: string, revision: number, found: Forecast, bands: ReadonlyMap<string, Band>): void {
    const { tick, nowMs, horizonMs } = found;
    this.#held = { sandbox, revision, tick, nowMs, horizonMs, bands };
  }

  bandOf(key: string): Band | undefined {
    return this.current?.bands.get(key);
  }
}

export const forecasts = new Forecasts();
