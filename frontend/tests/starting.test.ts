// A forecast in sentences: the band, the chance, and what it rests on.
import { describe, expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import { Refusal } from "@/net/rest";
import type { Forecast, StartForecast } from "@/protocol/types";
import { arrivalsSentence, agedBy, bandOf, bandSentence, baselineSentence, basisSentences, chanceSentence, littleSentence, problemOf, startOf } from "@/store/explain/starting";

await withWords(Promise.resolve());
const HOUR = 3_600_000;
const plain = (text: string): string => text.replaceAll("\u00a0", " ");
const start = (...minutes: (number | null)[]): StartForecast => {
  const [p10Ms = null, p50Ms = null, p90Ms = null] = minutes.map((one) => (one === null ? null : one * 60_000));
  const chances = [{ withinMs: 60_000, chance: 0 }, { withinMs: HOUR, chance: 0.847 }];
  return { workload: "Workload/default/train", queue: "main", p10Ms, p50Ms, p90Ms, chances, basis: "same user", message: "", lastWaitsMs: 120_000, boundMs: 600_000, speaks: "model" };
};
const forecast = (fields: Partial<Forecast> = {}): Forecast => ({
  tick: 27, nowMs: 27_000, correctedBy: 0, revision: 30, arrivals: "known", came: 0, seed: "1", asked: 20, futures: 20, horizonMs: HOUR, finished: 6, enough: true, starts: [start(4, 6, 11)], curves: { atMs: [], bands: [] }, ...fields,
});

describe("when a workload starts", () => {
  it.each([
    [start(4, 6, 11), "Likely in 6 min; 4 min to 11 min in 8 of 10 futures"],
    [start(6, 6, 6), "In 6 min, in at least 8 of 10 futures"],
    [start(4, 6, null), "Likely in 6 min; 4 min to more than 1 h in 8 of 10 futures"],
    [start(4, null, null), "Likely not within 1 h; within 4 min in 1 of 10 futures"],
    [start(null, null, null), "Not within 1 h in 9 of 10 futures"],
  ])("is one sentence, also beyond the horizon", (one, sentence) => {
    expect(plain(bandSentence(one, forecast()))).toBe(sentence);
  });

  it.each([
    [start(4, 6, 11), "Only a guess: 4 min to 11 min"],
    [start(6, 6, 6), "Only a guess: 6 min to 6 min"],
    [start(4, null, null), "Only a guess: 4 min or later, perhaps not within 1 h"],
    [start(null, null, null), "Only a guess: not within 1 h"],
  ])("is called a guess where there is not enough history", (one, sentence) => {
    expect(plain(bandSentence(one, forecast({ enough: false })))).toBe(sentence);
  });

  it("is a band on the board: without a median where it is a guess, none beyond the horizon", () => {
    const band = bandOf(start(4, 6, 11), forecast());
    expect(band).toMatchObject({ low: 240_000, middle: 360_000, high: 660_000, sure: true });
    expect(bandOf(start(4, 6, 11), forecast({ enough: false }))).toMatchObject({ middle: null, sure: false, short: "?" });
    expect(bandOf(start(null, null, null), forecast())).toBeUndefined();
  });

  it("has less of the band left as time goes on without its start", () => {
    expect(agedBy(start(4, 6, null), 5 * 60_000)).toMatchObject({ p10Ms: 0, p50Ms: 60_000, p90Ms: null });
  });

  it("stands beside what the last waits say", () => {
    expect(plain(baselineSentence(start(4, 6, 11)))).toBe("By the last waits in its queue: 2 min; 95% of them within 10 min (QBETS).");
    expect(baselineSentence({ ...start(4, 6, 11), lastWaitsMs: null })).toBe("");
  });

  it("says of what there is too little, and what is taken to come", () => {
    expect(littleSentence(forecast())).toBe("");
    expect(littleSentence(forecast({ enough: false, finished: 1 }))).toContain("1 finished workload");
    expect(littleSentence(forecast({ enough: false, arrivals: "continued", came: 2 }))).toContain("2 arrivals");
    expect(arrivalsSentence(forecast({ arrivals: "continued", came: 9 }))).toContain("like 9 of the past");
  });

  it("comes with the chance within the horizon", () => {
    expect(plain(chanceSentence(start(4, 6, 11), HOUR))).toBe("Chance to start within 1 h: 85%");
  });

  it("says what it rests on, and how many futures ended of those asked", () => {
    expect(basisSentences(forecast(), start(4, 6, 11))).toEqual([
      "Run times compared with: same user.", "Nothing else comes than what is known to come.", "20 of 20 futures ended.",
    ]);
    expect(basisSentences(forecast({ futures: 7 }), { ...start(1, 1, 1), basis: "a new step" })).toEqual([
      "Run times compared with: a new step.", "Nothing else comes than what is known to come.", "7 of 20 futures ended; then time ran out.",
    ]);
  });

  it("says by how many starts it is corrected, and who has the greater say", () => {
    const one = { ...start(4, 6, 11), speaks: "history" as const };
    expect(basisSentences(forecast({ correctedBy: 40 }), one).at(-1)).toContain("Corrected by 40 earlier starts; the last waits");
  });

  it("is known of those alone that waited", () => {
    expect(startOf(forecast(), "Workload/default/train")?.queue).toBe("main");
    expect(startOf(forecast(), "Workload/default/other")).toBeUndefined();
  });

  it("is refused in words", () => {
    expect(problemOf(new Refusal("Request was throttled.", 429))).toContain("Wait a minute");
    expect(problemOf(new Refusal("no future came to its end", 422))).toBe("no future came to its end");
    expect(problemOf(new DOMException("signal timed out", "TimeoutError"))).toContain("No answer within a minute");
  });
});
