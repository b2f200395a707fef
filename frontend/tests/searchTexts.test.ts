// A search for victims of Kueue, said in each language.

import { beforeAll, describe, expect, it, vi } from "vitest";

import { LANGUAGES, speak, withWords } from "@/lib/words.svelte";
import type { PreemptionSearch, PreemptionStep, Source } from "@/protocol/types";
import { sentenceOf, sourceText, titlesOf, verdictOf } from "@/views/preemptions/searchTexts";

const CPU = { resource: "cpu", amount: "3000", flavor: "f" };
const FREE = { ...CPU, available: "1000", withinNominal: null };
const STEP: PreemptionStep = {
  kind: "", headline: "ENGLISH", sentence: "ENGLISH", workload: "Workload/default/w", queue: "b", relation: "fair", verdict: "", reason: "InCohortReclamation",
  priority: 0, evicted: false, reservedMs: 0, held: [CPU], test: null, quotaChecks: [FREE], fits: false, borrowing: true, rule: "", withinNominal: null, shares: [],
};
const TEST = { kind: "share", rule: 0, ours: null, theirs: null, preemptorShare: 90, targetShareBefore: 80, targetShareAfter: 70, priority: 5, below: 3, cells: [] };
const step = (kind: string, other: Partial<PreemptionStep> = {}): PreemptionStep => ({ ...STEP, kind, ...other });
const STEPS = [
  step("setup"), step("attempt"), step("round", { rule: "LessThanOrEqualToFinalShare" }), step("turn"),
  step("candidate", { verdict: "refused", test: TEST }), step("candidate", { verdict: "refused", test: { ...TEST, kind: "priority" } }),
  step("candidate", { verdict: "skipped", test: { ...TEST, kind: "withinNominal", cells: [{ kind: "ClusterQueue", name: "b", flavor: "f", resource: "cpu", used: "1000", quota: "2000" }] } }),
  step("candidate", { verdict: "taken", fits: true }), step("putBack", { verdict: "needed" }), step("failed"), step("targets"),
];
const SOURCE: Source = { queue: "b", relation: "fair", policy: "Any", holders: 4, candidates: 2, code: "", why: "", cells: [] };
const search: PreemptionSearch = {
  purpose: "assignment", law: "FairSharing", rules: ["LessThanOrEqualToFinalShare"], requests: [CPU], sources: [SOURCE], steps: STEPS, cost: { searches: 1, looked: 2, simulations: 1 },
  targets: [{ workload: "Workload/default/w", queue: "b", reason: "", priority: 0, held: [], message: "", atMs: null, workLostMs: 0 }],
};
const plain = (text: string): string => text.replaceAll("\u00a0", " ");
const said = (at: number): string => plain(sentenceOf(STEPS[at] ?? STEP, search));

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });

describe("in English a search", () => {
  beforeAll(() => speak("en"));
  it("begins with what is needed and who may go", () => {
    expect(said(0)).toBe("3 CPU needed, 1 CPU free: 2 candidates of 4 in b (Any).");
  });
  it("says by which numbers a candidate is refused", () => {
    expect(said(4)).toBe("90 ≤ 70 is false: w is refused.");
    expect(said(5)).toBe("Priority 5 < 3 is false while borrowing: w is refused.");
    expect(said(6)).toBe("b uses 1 CPU of 2 CPU by now: w is skipped.");
  });
  it("says what a target frees, and whether that is enough", () => {
    expect(said(7)).toBe("w goes (InCohortReclamation). It frees 3 CPU; 1 CPU free < 3 CPU asked, the preemptor fits.");
  });
  it("numbers its candidates", () => {
    expect(titlesOf(search).slice(3, 6)).toEqual(["b is asked", "Candidate 1, w", "Candidate 2, w"]);
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("no step is in the server's words", () => {
    const texts = [...titlesOf(search), ...STEPS.map((one) => sentenceOf(one, search))];
    expect(texts.filter((text) => text.includes("ENGLISH") || text === "" || /search\.|\{/.test(text))).toEqual([]);
    if (language !== "en") expect(STEPS.map((one) => sentenceOf(one, search)).filter((text) => /\b(is|are|the|not)\b/.test(text))).toEqual([]);
  });
  it("a kind, a verdict or a code that is not known is in the server's words", () => {
    const strange = step("strange", { verdict: "moved" });
    expect([sentenceOf(strange, search), titlesOf({ ...search, steps: [strange] }), verdictOf(strange)]).toEqual(["ENGLISH", ["ENGLISH"], "moved"]);
    expect(sourceText({ ...SOURCE, candidates: 0, code: "strange", why: "for a reason" })).toBe("b: for a reason");
  });
});
