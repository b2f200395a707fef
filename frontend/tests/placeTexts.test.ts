// Where a pod could go, said in each language.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { LANGUAGES, speak, withWords } from "@/lib/words.svelte";
import type { AskExplanation, PodExplanation } from "@/protocol/types";
import { checkText, placeText, refusalText, verdictText } from "@/views/nodes/placeTexts";

const POD: PodExplanation = {
  pod: "Pod/default/p", atMs: 1000, node: "", condition: null, queue: "", nominated: "", scorers: [], nodes: [], totalNodes: 3, feasible: 0, best: [], points: [],
  counts: { "Insufficient cpu": 2 }, problem: "", sentences: ["ENGLISH"], growth: [{ kind: "NodeGroup", name: "g", reason: "ENGLISH", code: "tooSmall" }],
};
const NAMES = ["application", "queueQuota", "userQuota", "preemption", "mayPreempt", "delay", "first"];
const ASK: AskExplanation = {
  pod: "Pod/default/p", atMs: 1500, application: "a", applicationState: "Running", queue: "root.a", node: "", reservedOn: "n1", requests: [],
  allowPreemptSelf: true, allowPreemptOther: true, originator: false, path: [], headroom: [], sorting: [], nodeSort: "fair", nodeVerdicts: [], feasibleNodes: 0, nodes: 2,
  checks: NAMES.map((name) => ({ name, holds: false, detail: "ENGLISH", asked: [{ resource: "vcore", amount: "3000", left: "1000", whose: "user sue", queue: "root.a", most: "4000" }], notBeforeMs: 31_500 })),
  plans: [{ laws: "released", inForce: true, node: "", victims: [], reason: "" }], lawsDiffer: true, log: [], sentences: ["ENGLISH"],
};
const plain = (text: string): string => text.replaceAll("\u00a0", " ");
const VERDICT = { node: "n", used: 0, score: 0, shares: [], verdict: "ENGLISH" };

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });
afterAll(() => speak("en"));

describe("in English a place", () => {
  beforeAll(() => speak("en"));
  it("of a pod says how many nodes refuse it, and why none grows", () => {
    expect(placeText(POD)).toEqual(["None of 3 nodes takes it.", "2 nodes: Insufficient cpu.", "NodeGroup g does not grow for it: the pod does not fit on an empty node."]);
  });
  it("of an ask says what does not hold with its numbers", () => {
    expect(placeText(ASK).map(plain)).toContain("Not enough queue quota: 3 vcore asked, 1 vcore headroom.");
    expect(placeText({ ...ASK, node: "n1", allowPreemptSelf: false }).at(-1)).toMatch("It asks not to be preempted");
    expect(placeText(ASK).map(plain)).toContain("It may not preempt yet: not before 31.5 s, now it is 1.5 s.");
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("nothing is in the server's words", () => {
    const verdicts = ["cordoned", "tooSmall", "reserved", "short", "predicate"].map((code) => verdictText({ ...VERDICT, code, names: ["n1"] }));
    const said = [...placeText(POD), ...placeText(ASK), ...verdicts];
    expect(said.filter((text) => /ENGLISH|place\.|\{/.test(text))).toEqual([]);
  });
  it("what is not known is in the server's words", () => {
    const strange = { name: "strange", holds: false, detail: "ENGLISH", asked: [], notBeforeMs: null };
    expect([checkText(strange, ASK), verdictText({ ...VERDICT, code: "strange", names: [] }), refusalText({ kind: "", name: "", reason: "ENGLISH", code: "" })]).toEqual(["ENGLISH", "ENGLISH", "ENGLISH"]);
  });
});
