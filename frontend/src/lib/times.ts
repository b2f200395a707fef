// Virtual time: milliseconds of the run, ticks, and how long things take.

import { formatNumber, t } from "@/lib/words.svelte";

/** Return the first tick that shows what happened at a virtual time: a tick ends at its number. */
export function tickOf(ms: number, tickMs: number): number {
  return Math.ceil(ms / Math.max(1, tickMs));
}

/** Return "01:09:40": virtual time since the start of the run. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** Return "3 h 20 min", "45 s", "250 ms": a span in its two largest units. */
export function span(ms: number): string {
  if (ms < 1000) return t("time.ms", { n: Math.round(ms) });
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t("time.s", { n: seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(t("time.min", { n: minutes }), seconds % 60, "time.s");
  return join(t("time.h", { n: formatNumber(Math.floor(minutes / 60)) }), minutes % 60, "time.min");
}

function join(first: string, rest: number, unit: "time.s" | "time.min"): string {
  return rest === 0 ? first : `${first}\u00a0${t(unit, { n: rest })}`;
}

/** Return "1:59" or "2:05:00": a span as a clock has it, for narrow places; "45 s" below a minute. */
export function shortSpan(ms: number): string {
  if (ms < 60_000) return span(ms);
  return clock(Math.round(ms / 1000) * 1000).replace(/^0(?:0:0?)?/, "");
}

/** Return "now", "2 h ago", "yesterday": wall time that has passed. */
export function ago(thenMs: number, nowMs: number, locale: string): string {
  const minutes = Math.round((nowMs - thenMs) / 60_000);
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
  if (minutes < 1) return words.format(0, "second");
  if (minutes < 60) return words.format(-minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours < 24 ? words.format(-hours, "hour") : words.format(-Math.round(hours / 24), "day");
}
