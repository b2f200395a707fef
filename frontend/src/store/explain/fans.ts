// How shares and utilisation go on in the futures of a forecast, in ticks; pure.

import type { Fan } from "@/lib/fans";
import { tickOf } from "@/lib/times";
import type { CurveBand, Forecast } from "@/protocol/types";

/** Return the fans of one kind by name; of several instants of one tick the last. */
export function fansOf(found: Pick<Forecast, "nowMs" | "curves"> | undefined, of: CurveBand["of"], tickMs: number): ReadonlyMap<string, Fan> {
  if (found === undefined) return new Map();
  const all = found.curves.atMs.map((ms) => tickOf(found.nowMs + ms, tickMs));
  const kept = all.map((_, index) => index).filter((index) => all[index] !== all[index + 1]);
  const pick = <T>(values: readonly T[]): T[] => kept.map((index) => values[index] as T);
  const ticks = pick(all);
  if (ticks.length < 2) return new Map();
  return new Map(
    found.curves.bands
      .filter((band) => band.of === of)
      .map((band) => [band.name, { ticks, low: pick(band.p10), middle: pick(band.p50), high: pick(band.p90) }]),
  );
}
