// What a search came to, said in each language.

import { beforeAll, describe, expect, it, vi } from "vitest";

import { LANGUAGES, speak, withWords } from "@/lib/words.svelte";
import type { AdviceAnswer, Constraint } from "@/protocol/types";
import { constraintText, summaryText } from "@/views/advisor/answerTexts";

const WAIT: Constraint = { measure: "queues.etl.p95Ms", max: 30_000 };
const BOUNDS: Constraint[] = [
  WAIT, { measure: "utilisation.cpu", min: 0.7 }, { measure: "queues.*.meanMs", loses: 0.1 }, { measure: "workloads.meanMs", loses: 0.2 },
  { measure: "preemptionsPerHour", max: 2, over: "every" }, { measure: "slowdownRatio", min: 1, max: 2 },
];
const EDIT = { object: "ClusterQueue/a", field: "weight", before: "1", after: "2", leftOut: "", effect: {}, needed: false };
const kept = (heldAfter: boolean): AdviceAnswer["constraints"][number] => ({ text: "ENGLISH", constraint: WAIT, before: 1, after: 1, heldBefore: true, heldAfter });
const GAIN = { count: 10, mean: -0.12, low: -0.2, high: -0.04 };
const ANSWER: AdviceAnswer = {
  verdict: "improved", summary: "ENGLISH", edits: [EDIT, EDIT], rows: [], constraints: [kept(true)], sensitivity: [], front: [], gain: GAIN, trail: [],
  settings: 9, tried: 9, dropped: 0, unrunnable: 0, runs: 27, proofRuns: 20, point: [], seeds: [], heldOut: [1, 2, 3], patches: "", undo: "",
};
const ANSWERS: AdviceAnswer[] = [
  ANSWER, { ...ANSWER, gain: { ...GAIN, mean: 0.1 } }, { ...ANSWER, gain: null, edits: [EDIT] }, { ...ANSWER, verdict: "unmet", constraints: [kept(false)] },
  { ...ANSWER, verdict: "no improvement found", edits: [] }, { ...ANSWER, verdict: "no improvement found", constraints: [kept(false)] },
  { ...ANSWER, verdict: "no improvement found" }, { ...ANSWER, unrunnable: 3 },
];
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });

describe("in English", () => {
  beforeAll(() => speak("en"));
  it("a constraint says measure and bound", () => {
    expect(BOUNDS.map((one) => plain(constraintText(one, "ENGLISH")))).toEqual([
      "p95 wait, etl at most 30 s", "Utilisation, CPU at least 70 %", "nobody's mean wait more than 10 % longer", "Mean wait no more than 20 % worse than before",
      "Preemptions per hour at most 2, in every run", "Highest slowdown over lowest from 1 to 2",
    ]);
  });
  it("an answer says what it gains, and on how many seeds", () => {
    expect(plain(summaryText(ANSWER))).toBe("2 edits: objectives 12 % better (95% interval of the change −20 % to −4 %) on 3 seeds that the search did not use.");
  });
  it("an answer names what it misses on other seeds", () => {
    expect(plain(summaryText(ANSWERS[5] ?? ANSWER))).toContain("but not on 3 other seeds: p95 wait, etl at most 30 s.");
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("no constraint and no summary is in the server's words", () => {
    const texts = [...BOUNDS.map((one) => constraintText(one, "ENGLISH")), ...ANSWERS.map(summaryText)];
    expect(texts.filter((text) => text.includes("ENGLISH") || text === "" || /advisor\.|\{/.test(text))).toEqual([]);
    if (language !== "en") expect(texts.filter((text) => /\b(is|the|at|most|of|in)\b/.test(text))).toEqual([]);
  });
});
