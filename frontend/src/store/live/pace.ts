// How fast a run really goes, from when its ticks arrived; pure.

export interface Arrival {
  readonly tick: number;
  readonly atMs: number; // wall time
}

const WINDOW_MS = 6000;
const LEAST_MS = 3000; // below that nothing can be said
const SLOW = 0.75; // of the speed that was chosen

/** Return arrivals with one more, those of the last seconds alone; a rewind begins anew. */
export function arrived(before: readonly Arrival[], next: Arrival): readonly Arrival[] {
  const last = before.at(-1);
  if (last !== undefined && next.tick < last.tick) return [next];
  return [...before.filter((one) => next.atMs - one.atMs <= WINDOW_MS), next];
}

/** Return the ticks a second that a run makes when that is clearly fewer than `speed`; else null.
 *
 * @param speed - ticks a second that were chosen; 0 means as fast as it goes, which is never slow
 */
export function slowPace(arrivals: readonly Arrival[], speed: number): number | null {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined || speed <= 0) return null;
  const spanMs = last.atMs - first.atMs;
  if (spanMs < Math.max(LEAST_MS, 2000 / speed)) return null;
  const pace = ((last.tick - first.tick) * 1000) / spanMs;
  return pace < SLOW * speed ? pace : null;
}
