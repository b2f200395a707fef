// How often forecasts were right, in sentences, or that it is not known yet.
import { expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import type { TrackRecord } from "@/protocol/types";
import { instantsOf, recordSentences } from "@/store/explain/trackRecord";

await withWords(Promise.resolve());
const RECORD: TrackRecord = {
  forecasts: 9, judged: 40, open: 3, enough: true, coverage50: 0.525, coverage90: 0.9, medianErrorMs: 90_000, crpsS: 31.44, lastWaitsS: 60, boundS: 75,
};

it("says how often bands held, how far medians were off, and how baselines did", () => {
  expect(recordSentences(RECORD).map((one) => one.replaceAll("\u00a0", " "))).toEqual([
    "Of 40 starts, 53% within the band of 50%, 90% within that of 90%.",
    "Half of the medians were off by less than 1 min 30 s.",
    "Mean error (CRPS) 31 s; of the last waits in the queue 1 min, of QBETS 1 min 15 s.",
  ]);
});

it("says that there is not enough history, and nothing else", () => {
  expect(recordSentences({ ...RECORD, judged: 1, enough: false })).toEqual(["Not enough history: 1 start to judge forecasts by."]);
});

it("asks of instants within the past that is kept", () => {
  expect(instantsOf(0, 90)).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
  expect(instantsOf(5, 7)).toEqual([6]);
  expect(instantsOf(3, 3)).toEqual([]);
});
