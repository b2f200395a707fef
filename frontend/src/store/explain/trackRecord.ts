// How often forecasts of a sandbox were right: sentences, and the ticks of the past to ask of.

import { span } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { TrackRecord } from "@/protocol/types";

/** So many instants of the past are asked of at once. */
export const INSTANTS = 8;

/** Return how often the bands held, how far the medians were off, and how baselines did; without history that alone. */
export function recordSentences(record: TrackRecord): readonly string[] {
  if (!record.enough) return [t("record.little", { n: record.judged })];
  const lines = [t("record.coverage", { n: record.judged, half: percent(record.coverage50), ninety: percent(record.coverage90) })];
  if (record.medianErrorMs !== null) lines.push(t("record.error", { error: span(record.medianErrorMs) }));
  const [own, last, bound] = [record.crpsS, record.lastWaitsS, record.boundS];
  if (own !== null && last !== null && bound !== null) {
    lines.push(t("record.crps", { own: seconds(own), last: seconds(last), bound: seconds(bound) }));
  }
  return lines;
}

/** Return ticks of the past, evenly apart, of which none is the first or the present. */
export function instantsOf(first: number, now: number): readonly number[] {
  const step = (now - first) / (INSTANTS + 1);
  const ticks = Array.from({ length: INSTANTS }, (_, n) => Math.round(first + (n + 1) * step));
  return [...new Set(ticks)].filter((tick) => tick > first && tick < now);
}

const percent = (share: number | null): string => `${Math.round(100 * (share ?? 0))}%`;
const seconds = (value: number): string => span(1000 * value);
