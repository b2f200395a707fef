// The newest forecast, as bands on the board and on the timeline: of what is shown, or of nothing.

import type { Forecast, StartForecast } from "@/protocol/types";
import { live, onChange } from "@/store/live/live.svelte";
import { sandboxOf, type Page } from "@/store/rows/page";

/** When one workload starts: virtual ms from what is shown; null is beyond the horizon. */
export interface Band {
  readonly low: number;
  readonly middle: number | null; // none where it is a guess
  readonly high: number | null;
  readonly sure: boolean; // there is enough history
  readonly short: string;
  readonly text: string;
}

/** How a band is made of a forecast so long (ms) after it: its words come with who asks, not with the board. */
type ToBand = (one: StartForecast, found: Forecast, passed: number) => Band | undefined;

interface KeptForecast {
  readonly sandbox: string;
  readonly revision: number;
  readonly found: Forecast;
  readonly starts: ReadonlyMap<string, StartForecast>;
  readonly toBand: ToBand;
}

class Forecasts {
  #held = $state.raw<KeptForecast | null>(null);
  /** Revisions that decided nothing, since the page came whole: the clock was started or stopped. */
  #idle = $state.raw<readonly number[]>([]);

  constructor() {
    onChange((before, after, _keys, whole) => {
      if (whole) this.#idle = [];
      else if (sameRun(before, after)) this.#idle = [...this.#idle, after.revision];
    });
  }

  /** What was forecast of the revision that is shown, or of one since when only time went on. */
  readonly current = $derived.by(() => {
    const held = this.#held;
    const { sandbox, page } = live.shown;
    if (held === null || !sandbox || held.sandbox !== live.id) return null;
    const idle = this.#idle.filter((one) => one > held.revision && one <= page.revision).length;
    const [ticks, revisions] = [sandbox.tick - held.found.tick, page.revision - held.revision - idle];
    const onlyTime = live.real ? revisions >= 0 : ticks === revisions;
    return ticks >= 0 && onlyTime ? { nowMs: live.nowMs, horizonMs: held.found.horizonMs, held } : null;
  });

  /** Show a forecast as long as that revision is shown, or what time alone made of it. */
  hold(sandbox: string, revision: number, found: Forecast, toBand: ToBand): void {
    this.#held = { sandbox, revision, found, toBand, starts: new Map(found.starts.map((one) => [one.workload, one])) };
  }

  /** Return what is left of the band of a workload that waits still. */
  bandOf(key: string): Band | undefined {
    if (this.#held === null) return undefined; // a board without a forecast does not follow the page for it
    const held = this.current?.held;
    const one = held?.starts.get(key);
    return held === undefined || one === undefined ? undefined : held.toBand(one, held.found, live.nowMs - held.found.nowMs);
  }
}

// Every tick and every edit gives the run another hash.
function sameRun(before: Page, after: Page): boolean {
  const [old, now] = [sandboxOf(before), sandboxOf(after)];
  return old !== undefined && now !== undefined && old.tick === now.tick && old.hash === now.hash;
}

export const forecasts = new Forecasts();
