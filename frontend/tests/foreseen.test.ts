import { describe, expect, it } from "vitest";

import type { Foreseen } from "@/store/edits/foreseen";
import { preemptedIn, sentenceOf } from "@/views/board/drag/foreseenText";

const NONE: Foreseen = { outcome: "ran", tick: null, position: null, withinMs: 30_000, sentences: [], effects: [], victims: [], shares: [] };
const victim = (workload: string, reason: string): Foreseen["victims"][number] => ({ workload, reason, queue: "a", held: [], message: "", priority: 0, atMs: 0, workLostMs: 1 });

describe("the preview of a drop", () => {
  it("names who is preempted once, however often that happens", () => {
    const victims = [victim("a", "InClusterQueue"), victim("b", "InClusterQueue"), victim("a", "InCohortReclamation")];
    expect(preemptedIn({ ...NONE, victims })).toEqual([
      { workload: "a", reasons: "InClusterQueue, InCohortReclamation", times: 2 },
      { workload: "b", reasons: "InClusterQueue", times: 1 },
    ]);
  });
  it("says who gains and who loses where it is about nobody alone", () => {
    expect(sentenceOf({ ...NONE, effects: ["1 starts earlier: a.", "1 starts later: b."] })).toBe("1 starts earlier: a. 1 starts later: b.");
  });
});
