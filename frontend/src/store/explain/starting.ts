// When a waiting workload starts: what the server forecast, in sentences; pure but for the asking.

import { saidText } from "@/store/live/said";
import { span } from "@/lib/times";
import { t, type Word } from "@/lib/words.svelte";
import { ask, Refusal } from "@/net/rest";
import type { Forecast, Forecasts, ForecastState, StartForecast, SubmissionForecast } from "@/protocol/types";
import type { Band } from "@/store/explain/forecasts.svelte";

const LEAST_FINISHED = 5; // as the server: fewer are not enough history
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

/** Ask when each waiting workload starts, from now or from a tick of the past; `hear` gets how far it is. */
export async function forecastStarts(
  sandbox: string,
  tick: number | null,
  continued: boolean,
  stop: AbortSignal,
  hear: (state: ForecastState) => void = () => undefined,
): Promise<Forecast> {
  const signal = patient(stop);
  const body = { tick, arrivals: arrivalsOf(continued) };
  let state = await ask("ForecastState", "POST", `/sandboxes/${sandbox}/forecasts`, { body, signal });
  while (state.state === "running") {
    hear(state);
    await pause(LOOK_MS, signal);
    state = await forecastAgain(sandbox, state.id, signal);
  }
  if (state.forecast === null) throw new Error(saidText(state.said, state.error) || t("when.cancelled"));
  return state.forecast;
}

/** Ask how far a forecast is; one that is done has what it forecast. */
export function forecastAgain(sandbox: string, id: number, signal: AbortSignal): Promise<ForecastState> {
  return ask("ForecastState", "GET", `/sandboxes/${sandbox}/forecasts/${id}`, { signal });
}

/** Ask what was forecast of a sandbox, the newest first, and how it came out. */
export function forecastsOf(sandbox: string, stop: AbortSignal): Promise<Forecasts> {
  return ask("Forecasts", "GET", `/sandboxes/${sandbox}/forecasts`, { query: { limit: 1 }, signal: patient(stop) });
}

/** Ask when work would start that is not submitted yet, in every queue; `manifest` as an import takes it. */
export function forecastSubmission(sandbox: string, manifest: object, continued: boolean, stop: AbortSignal): Promise<SubmissionForecast> {
  const body = { ...manifest, queues: ["all"], arrivals: arrivalsOf(continued) };
  return ask("SubmissionForecast", "POST", `/sandboxes/${sandbox}/forecast`, { body, signal: patient(stop) });
}

const arrivalsOf = (continued: boolean): Forecast["arrivals"] => (continued ? "continued" : "known");
const LOOK_MS = 250;
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done, fail) => {
    signal.throwIfAborted();
    setTimeout(done, ms);
    signal.addEventListener("abort", () => fail(signal.reason as Error), { once: true });
  });
const patient = (stop: AbortSignal): AbortSignal => AbortSignal.any([stop, AbortSignal.timeout(MOST_MS)]);

/** Return the band that the board and the timeline draw, so long (ms) after the forecast; undefined beyond the horizon. */
export function bandOf(one: StartForecast, found: Pick<Forecast, "enough" | "horizonMs">, passed = 0): Band | undefined {
  const aged = agedBy(one, passed);
  if (aged.p10Ms === null) return undefined;
  const middle = found.enough ? aged.p50Ms : null;
  const short = middle === null ? "?" : `≈ ${span(middle)}`;
  return { low: aged.p10Ms, middle, high: aged.p90Ms, sure: found.enough, short, text: bandSentence(aged, found) };
}

/** Return what is left of a forecast after so many ms in which the workload did not start. */
export function agedBy(one: StartForecast, passed: number): StartForecast {
  const left = (ms: number | null): number | null => (ms === null ? null : Math.max(0, ms - passed));
  return { ...one, p10Ms: left(one.p10Ms), p50Ms: left(one.p50Ms), p90Ms: left(one.p90Ms) };
}

/** Return the forecast of one workload; undefined where it did not wait. */
export function startOf(found: Forecast, key: string): StartForecast | undefined {
  return found.starts.find((one) => one.workload === key);
}

/** Return the median and the band from p10 to p90; without enough history it is called a guess. */
export function bandSentence(one: StartForecast, found: Pick<Forecast, "enough" | "horizonMs">): string {
  const [low, middle, high] = [one.p10Ms, one.p50Ms, one.p90Ms]; // null: beyond the horizon
  const horizon = span(found.horizonMs);
  if (!found.enough) return guess(low, high, horizon);
  if (low === null) return t("when.beyond", { horizon });
  if (middle === null) return t("when.beyondHalf", { horizon, low: span(low) });
  if (high === null) return t("when.open", { middle: span(middle), low: span(low), horizon });
  if (span(low) === span(high)) return t("when.sure", { middle: span(middle) });
  return t("when.band", { middle: span(middle), low: span(low), high: span(high) });
}

function guess(low: number | null, high: number | null, horizon: string): string {
  if (low === null) return t("when.guessBeyond", { horizon });
  if (high === null) return t("when.guessOpen", { low: span(low), horizon });
  return t("when.guess", { low: span(low), high: span(high) });
}

/** Return what is missing of the history; empty where there is enough. */
export function littleSentence(found: Forecast): string {
  if (found.enough) return "";
  return found.finished < LEAST_FINISHED ? t("when.little", { n: found.finished }) : t("when.few", { n: found.came });
}

/** Return the chance to start within the horizon, a whole percentage. */
export function chanceSentence(one: StartForecast, horizonMs: number): string {
  return t("when.chance", { horizon: span(horizonMs), percent: percentOf(one) });
}

export const chanceOf = (one: StartForecast): string => `${percentOf(one)}%`;
const percentOf = (one: StartForecast): number => Math.round((one.chances.at(-1)?.chance ?? 0) * 100);

/** Return what run times rest on, and how many futures ended of those asked. */
export function basisSentences(found: Forecast, one: StartForecast): readonly string[] {
  const word = BASIS[one.basis];
  const basis = t("when.basis", { basis: word === undefined ? one.basis : t(word) });
  const ended = t(found.futures < found.asked ? "when.fewer" : "when.futures", { n: found.futures, all: found.asked });
  const corrected = !(found.correctedBy > 0) ? [] : [t(one.speaks === "history" ? "when.historySpeaks" : "when.modelSpeaks", { n: found.correctedBy })];
  return [basis, arrivalsSentence(found), ended, ...corrected];
}

/** Return what says the same without a model: the last waits in the queue, and a bound on them; empty where none was. */
export function baselineSentence(one: StartForecast): string {
  if (one.lastWaitsMs === null || one.boundMs === null) return "";
  return t("when.baselines", { middle: span(one.lastWaitsMs), bound: span(one.boundMs) });
}

/** Return what is taken to come. */
export function arrivalsSentence(found: Forecast): string {
  return found.arrivals === "known" ? t("when.known") : t("when.continued", { n: found.came });
}

/** Return why there is no forecast, in words. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && error.code === 429) return t("when.often");
  if (error instanceof DOMException && error.name === "TimeoutError") return t("when.slow");
  return error instanceof Error ? error.message : String(error);
}
