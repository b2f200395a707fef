// The bands of a forecast stand beside the revision and the tick that they were made of, and beside no other.
import { readFileSync } from "node:fs";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Diff, Forecast, PageState } from "@/protocol/types";
import { forecasts } from "@/store/explain/forecasts.svelte";
import { bandOf } from "@/store/explain/starting";
import { backToLive, closeSandbox, live, openSandbox } from "@/store/live/live.svelte";
import { pageAt, tickOf } from "@/store/rows/page";
import { RowStore } from "@/store/rows/rowStore.svelte";

interface Run {
  readonly state: PageState;
  readonly steps: readonly { readonly what: string; readonly diffs: readonly Diff[] }[];
  readonly past: readonly PageState[];
}
const file = new URL("./fixtures/recording.json", import.meta.url);
const [run] = (JSON.parse(readFileSync(file, "utf8")) as { runs: readonly [Run] }).runs;
const JOB = "Workload/default/train";
const ONE = { workload: JOB, queue: "main", p10Ms: 1000, p50Ms: 2000, p90Ms: 3000, chances: [], basis: "same user", message: "", lastWaitsMs: null, boundMs: null };
const made = (): Forecast => ({ tick: tickOf(live.shown.page), nowMs: live.nowMs, horizonMs: 60_000, enough: true, starts: [ONE] }) as unknown as Forecast;
const edit = run.steps.findIndex((step) => step.what === "edit");
const follow = (steps: Run["steps"]): void => {
  for (const diff of steps.flatMap((step) => step.diffs)) live.sandbox?.take(diff);
};

function hold(): void {
  forecasts.hold("twoteams", live.shown.page.revision, made(), bandOf);
}

beforeEach(() => {
  vi.stubGlobal("location", { protocol: "http:", host: "localhost" });
  vi.stubGlobal("WebSocket", EventTarget);
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no server")));
  openSandbox("twoteams");
  live.sandbox?.take(run.state);
  follow(run.steps.slice(0, edit));
});
afterEach(() => {
  live.sandbox = null;
  closeSandbox();
  vi.unstubAllGlobals();
});

it("shows a band of what is shown", () => {
  hold();
  expect(forecasts.bandOf(JOB)).toMatchObject({ low: 1000, middle: 2000, high: 3000 });
});

it("takes it away after an edit, also one of the same tick", () => {
  hold();
  const { page } = live.shown;
  follow(run.steps.slice(edit, edit + 1));
  expect(live.shown.page.revision).toBeGreaterThan(page.revision);
  expect(forecasts.bandOf(JOB)).toBeUndefined();
});

it("keeps it when the clock is started, which decides nothing", () => {
  follow(run.steps.slice(edit, edit + 1));
  hold();
  const { page } = live.shown;
  const [started, tick] = run.steps[edit + 1]?.diffs ?? [];
  if (started === undefined || tick === undefined) throw new Error("the recording plays no tick after the edit");
  live.sandbox?.take(started);
  expect(live.shown.page.revision).toBe(page.revision + 1);
  expect(forecasts.bandOf(JOB)).toMatchObject({ low: 1000, middle: 2000, high: 3000 });
  live.sandbox?.take(tick);
  expect(forecasts.bandOf(JOB)).toMatchObject({ low: 0, middle: 1000, high: 2000 });
});

it("takes it away in the past, and shows it again where it was made", () => {
  hold();
  const [before] = run.past;
  if (before === undefined) throw new Error("the recording has no past");
  live.past = new RowStore();
  live.past.show(pageAt(before, live.latest.page));
  expect(forecasts.bandOf(JOB)).toBeUndefined();
  backToLive();
  expect(forecasts.bandOf(JOB)).toMatchObject({ low: 1000, middle: 2000, high: 3000 });
});

it("shows none in another sandbox", () => {
  forecasts.hold("another", live.shown.page.revision, made(), bandOf);
  expect(forecasts.bandOf(JOB)).toBeUndefined();
});
