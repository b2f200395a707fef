import { describe, expect, it } from "vitest";

import type { Foreseen } from "@/store/edits/foreseen";
import { admittedText, preemptedIn } from "@/views/board/drag/foreseenText";

const NONE: Foreseen = { outcome: "ran", tick: null, position: null, withinMs: 30_000, sentences: [], admitted: [], victims: [], shares: [] };
const victim = (workload: string, reason: string): Foreseen["victims"][number] => ({ workload, reason, queue: "a", held: [], message: "", priority: 0, atMs: 0, workLostMs: 1 });

describe("the preview of a drop", () => {
  it("names who is preempted once, however often that happens", () => {
    const victims = [victim("a", "InClusterQueue"), victim("b", "InClusterQueue"), victim("a", "InCohortReclamation")];
    expect(preemptedIn({ ...NONE, victims })).toEqual([
      { workload: "a", reasons: "InClusterQueue, InCohortReclamation", times: 2 },
      { workload: "b", reasons: "InClusterQueue", times: 1 },
    ]);
  });
  it("says within what time, and how many are not named", () => {
    const admitted = [1, 2, 3, 4, 5].map((n) => `Workload/ns/job-run-${n}-abcde`);
    expect(admittedText({ ...NONE, admitted })).toBe("Within 30 s 5 more are admitted: run-1, run-2, run-3, run-4 and 1 more.");
  });
});
