// When a waiting workload starts: what the server forecast, in sentences; pure but for the asking.

import { span } from "@/lib/times";
import { t, type Word } from "@/lib/words.svelte";
import { ask, Refusal } from "@/net/rest";
import type { Forecast, StartForecast } from "@/protocol/types";

const MOST_MS = 60_000; // the server stops after 20 s, and its answer may have to wait

const BASIS: Readonly<Record<string, Word>> = {
  "same work, user, size and limit": "when.basis.work",
  "same work and user": "when.basis.workUser",
  "same user, queue and size class": "when.basis.userQueue",
  "same user": "when.basis.user",
  "same queue, size class and limit class": "when.basis.queueSize",
  "same queue": "when.basis.queue",
  "anything finished": "when.basis.any",
  "nothing finished yet": "when.basis.none",
};

/** Ask when each waiting workload starts, from now or from a tick of the past. */
export function forecastStarts(sandbox: string, tick: number | null, stop: AbortSignal): Promise<Forecast> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(MOST_MS)]);
  return ask("Forecast", "GET", `/sandboxes/${sandbox}/forecast`, { query: { tick }, signal });
}

/** Return the forecast of one workload; undefined where it did not wait. */
export function startOf(found: Forecast, key: string): StartForecast | undefined {
  return found.starts.find((one) => one.workload === key);
}

/** Return the median and the band from p10 to p90; null stands for beyond the horizon. */
export function bandSentence(one: StartForecast, horizonMs: number): string {
  const [low, middle, high] = [one.p10Ms, one.p50Ms, one.p90Ms];
  const horizon = span(horizonMs);
  if (low === null) return t("when.beyond", { horizon });
  if (middle === null) return t("when.beyondHalf", { horizon, low: span(low) });
  if (high === null) return t("when.open", { middle: span(middle), low: span(low), horizon });
  if (span(low) === span(high)) return t("when.sure", { middle: span(middle) });
  return t("when.band", { middle: span(middle), low: span(low), high: span(high) });
}

/** Return the chance to start within the horizon, a whole percentage. */
export function chanceSentence(one: StartForecast, horizonMs: number): string {
  const percent = Math.round((one.chances.at(-1)?.chance ?? 0) * 100);
  return t("when.chance", { horizon: span(horizonMs), percent });
}

/** Return what run times rest on, and how many futures ended of those asked. */
export function basisSentences(found: Forecast, one: StartForecast): readonly string[] {
  const word = BASIS[one.basis];
  const basis = t("when.basis", { basis: word === undefined ? one.basis : t(word) });
  const ended = t(found.futures < found.asked ? "when.fewer" : "when.futures", { n: found.futures, all: found.asked });
  return [basis, ended];
}

/** Return why there is no forecast, in words. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && error.code === 429) return t("when.often");
  if (error instanceof DOMException && error.name === "TimeoutError") return t("when.slow");
  return error instanceof Error ? error.message : String(error);
}
