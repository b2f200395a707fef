// What the numbers of an experiment say: better, worse, or not distinguishable; pure.

import type { Interval, VariantResult, BetterEnum } from "@/protocol/types";

export type Judgement = "base" | "better" | "worse" | "other" | "unclear" | "same" | "single";

/** Return how a variant does in a measure against the first one.
 *
 * By the 95% interval of the difference, seed by seed: it says better or worse only when
 * the interval lies on one side of 0. "other" = it differs, and neither way is better;
 * "single" = one seed alone has no interval.
 */
export function judge(line: VariantResult, measure: string, way: BetterEnum | undefined): Judgement {
  if (line.variant === 0) return "base";
  const gap = line.differences[measure];
  if (gap === undefined) return "unclear";
  if (gap.mean === 0 && (gap.low ?? 0) === 0 && (gap.high ?? 0) === 0) return "same";
  if (gap.low === null || gap.high === null) return "single";
  if (gap.low <= 0 && gap.high >= 0) return "unclear";
  if (way === undefined) return "other";
  return gap.mean > 0 === (way === "high") ? "better" : "worse";
}

/** Return half the width of an interval; null with one run alone. */
export function half(interval: Interval): number | null {
  return interval.low === null || interval.high === null ? null : (interval.high - interval.low) / 2;
}

/** Return the smallest and the largest number that intervals reach; widened when they are one. */
export function reach(intervals: readonly Interval[]): [number, number] {
  const low = Math.min(...intervals.map((one) => one.low ?? one.mean));
  const high = Math.max(...intervals.map((one) => one.high ?? one.mean));
  if (!Number.isFinite(low)) return [0, 1];
  const margin = (high - low) * 0.06 || Math.max(Math.abs(high) * 0.1, 1e-6);
  return [low - margin, high + margin];
}
