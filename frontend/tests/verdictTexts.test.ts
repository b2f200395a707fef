// What would let a workload in, said in each language.

import { beforeAll, describe, expect, it, vi } from "vitest";

import { LANGUAGES, speak, withWords } from "@/lib/words.svelte";
import type { ChangeOutcome, Verdict } from "@/protocol/types";
import { conditionText, effectText, unchangedMs } from "@/views/inspector/workload/verdictTexts";

const OUTCOME: ChangeOutcome = {
  outcome: "admitted", atMs: 12_000, tick: 12, ranFromMs: 0, ranToMs: 600_000, settled: true, reason: "", message: "", pods: "", podsMessage: "", position: null,
  victims: [], shares: [], workLostMs: 0,
};
const VICTIM = { workload: "Workload/team/low", queue: "b", reason: "InClusterQueue", priority: 0, held: [], message: "", atMs: null, workLostMs: 0 };
const SHARE = { kind: "ClusterQueue", name: "a", before: 80, after: 40 };
const edits = (kind: string, name: string): Verdict["change"] => ({ edits: [{ kind, namespace: "team", name, patch: {} }], pause: [] });
const QUEUE = edits("ClusterQueue", "a");
const VERDICT: Verdict = {
  id: "", kind: "", verdict: "yes", subject: "ENGLISH", now: "", effect: "ENGLISH", change: QUEUE, outcome: OUTCOME, amounts: [], value: "", finishes: [], runs: 1,
};
const verdict = (kind: string, other: Partial<Verdict> = {}): Verdict => ({ ...VERDICT, kind, ...other });
const GPU = [{ resource: "nvidia.com/gpu", amount: "4", flavor: "a100" }];
const KINDS = [
  verdict("wait"), verdict("wait", { finishes: ["Workload/team/x", "Workload/team/y"] }), verdict("active"), verdict("stopPolicy"),
  verdict("stopPolicy", { change: edits("LocalQueue", "main") }), verdict("topology", { value: "preferred" }), verdict("topology", { value: "unconstrained" }),
  verdict("nominalQuota", { amounts: GPU, value: "a100" }), verdict("borrowingLimit", { amounts: GPU, value: "a100" }), verdict("borrowingLimit", { value: "a100" }), verdict("lendingLimit", { value: "a100" }),
  verdict("priority", { value: "5" }), verdict("weight", { value: "3" }), verdict("queueingStrategy", { value: "BestEffortFIFO" }),
  verdict("reclaimWithinCohort", { value: "Any" }), verdict("withinClusterQueue", { value: "LowerPriority" }), verdict("borrowWithinCohort", { value: "LowerPriority" }),
  verdict("localQueue", { value: "other" }),
];
const EFFECTS = [
  verdict("priority"), verdict("priority", { outcome: { ...OUTCOME, victims: [VICTIM] } }), verdict("priority", { outcome: { ...OUTCOME, victims: [VICTIM], shares: [SHARE] } }),
  verdict("priority", { verdict: "but", outcome: { ...OUTCOME, podsMessage: "0/3" } }), verdict("priority", { verdict: "no", outcome: { ...OUTCOME, reason: "Pending" } }),
  verdict("wait", { verdict: "no" }), verdict("priority", { verdict: "unknown" }),
];
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });

describe("in English a verdict", () => {
  beforeAll(() => speak("en"));
  it("says the change with its queue and amounts", () => {
    expect(plain(conditionText(KINDS[7] ?? VERDICT))).toBe("a has +4 GPU nominal quota in flavor a100");
    expect(conditionText(KINDS[1] ?? VERDICT)).toBe("x, y finish");
  });
  it("says the price of the admission", () => {
    expect(effectText(EFFECTS[2] ?? VERDICT, null)).toBe("At tick 12, by preempting low (InClusterQueue); shares: a 80 to 40.");
  });
  it("is held to when it is admitted with nothing changed", () => {
    const natural = unchangedMs([verdict("wait", { outcome: { ...OUTCOME, atMs: 90_000 } })]);
    expect(effectText(EFFECTS[4] ?? VERDICT, natural)).toBe("No earlier than without, at 90 s (Pending).");
    expect(effectText(EFFECTS[4] ?? VERDICT, null)).toBe("Still pending at 600 s (Pending).");
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("no condition and no effect is in the server's words", () => {
    const texts = [...KINDS.map(conditionText), ...EFFECTS.map((one) => effectText(one, 90_000))];
    expect(texts.filter((text) => text.includes("ENGLISH") || text === "" || /if\.|\{/.test(text))).toEqual([]);
    if (language !== "en") expect(texts.filter((text) => /\b(is|has|the|at|by|in)\b/i.test(text))).toEqual([]);
  });
  it("a kind that is not known is in the server's words", () => {
    expect(conditionText(verdict("strange"))).toBe("ENGLISH");
    expect(effectText(verdict("strange", { verdict: "strange" }), null)).toBe("ENGLISH");
  });
});
