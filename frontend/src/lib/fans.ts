// A curve that goes on in many futures, and what is drawn of it; pure.

/** One curve of many futures: what 10%, half and 90% of them stay below; null is infinite. */
export interface Fan {
  readonly ticks: readonly number[];
  readonly low: readonly (number | null)[];
  readonly middle: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** Return the corners of a fan's area: its upper line, then its lower one backwards; infinite is `most`. */
export function cornersOf(fan: Fan, most: number): readonly (readonly [number, number])[] {
  const up = fan.ticks.map((tick, index) => [tick, fan.high[index] ?? most] as const);
  const down = fan.ticks.map((tick, index) => [tick, fan.low[index] ?? most] as const);
  return [...up, ...down.reverse()];
}

/** Return the points of the line through a fan's medians. */
export function medianOf(fan: Fan, most: number): readonly (readonly [number, number])[] {
  return fan.ticks.map((tick, index) => [tick, fan.middle[index] ?? most]);
}

/** Return the highest finite value of some fans; 0 of none. */
export function mostOf(fans: Iterable<Fan>): number {
  let most = 0;
  for (const fan of fans) for (const value of fan.high) most = Math.max(most, value ?? 0);
  return most;
}
