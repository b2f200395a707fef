import { describe, expect, it } from "vitest";

import type { EventLine } from "@/protocol/types";
import { changedLeaves } from "@/store/policy/changes";
import { shareLines, thinned } from "@/store/rows/curves";
import { diffLines } from "@/store/rows/textDiff";
import { groupsOf, loopsOf, reasonsOf } from "@/store/explain/preempting";
import { areaPath, axisSteps, joinNewest, marksOf, mergeMarks } from "@/store/rows/timeline";
import { event, sample } from "./worlds";

describe("the timeline", () => {
  it("marks a preemptor once a tick", () => {
    const marks = marksOf([event(4), event(4, { seq: 1 }), event(9)]);
    expect(marks.map((mark) => mark.tick)).toEqual([4, 9]);
  });

  it("does not call the clock's own commands edits", () => {
    expect(marksOf([event(1, { type: "Edit", reason: "Play" })])).toEqual([]);
    expect(marksOf([event(1, { type: "Edit", reason: "Patch" })])[0]?.kind).toBe("edit");
  });

  it("names a mark by what its event says to the reader", () => {
    const edits = [event(3, { type: "Edit", reason: "Move", message: "ana moves x to y" })];
    expect(marksOf(edits)[0]?.title).toBe("3: ana moves x to y");
    expect(marksOf(edits, (one) => `(${one.message})`)[0]?.title).toBe("3: (ana moves x to y)");
  });

  it("merges marks that would overlap, with their count", () => {
    const marks = marksOf([event(10), event(11), event(50)]);
    expect(mergeMarks(marks, (tick) => tick).map((mark) => mark.count)).toEqual([2, 1]);
  });

  it("has round steps from 0", () => {
    expect(axisSteps(418, 5)).toEqual([0, 100, 200, 300, 400]);
  });

  it("draws nothing of nothing", () => {
    expect(areaPath([], (tick) => tick, 58, 44)).toEqual({ fill: "", line: "" });
  });

  it("keeps the first and the last sample of a long run", () => {
    const kept = thinned(Array.from({ length: 9000 }, (_, tick) => sample(tick)));
    expect(kept.length).toBeLessThanOrEqual(1201);
    expect(kept.at(-1)?.tick).toBe(8999);
  });

  it("leaves a gap where a share is infinite or a queue does not exist yet", () => {
    const run = [sample(1), sample(2, { queues: [{ queue: "a", share: null, used: {}, pending: 0 }] })];
    expect(shareLines(run, ["a"]).values).toEqual([[null, null]]);
  });
});

describe("preemptions", () => {
  const events = [event(3), event(3, { seq: 1, subject: "Workload/team/other" }), event(8, { reason: "InCohortReclamation" })];

  it("are grouped by preemptor and tick, newest first", () => {
    const groups = groupsOf(events);
    expect(groups.map((group) => [group.tick, group.victims.length])).toEqual([[8, 1], [3, 2]]);
    expect(groups[1]?.places).toEqual(["3.0", "3.1"]);
  });

  it("are counted by reason", () => {
    expect(reasonsOf(events)).toEqual([["InClusterQueue", 2], ["InCohortReclamation", 1]]);
  });

  it("that go to and fro three times within 100 ticks are a loop", () => {
    const [a, b] = ["Workload/team/a", "Workload/team/b"];
    const fro = [event(1, { by: a, subject: b }), event(5, { by: b, subject: a }), event(9, { by: a, subject: b })];
    expect(loopsOf(fro).map((loop) => loop.ticks)).toEqual([[1, 5, 9]]);
    expect(loopsOf(fro.slice(0, 2))).toEqual([]);
  });

  it("of one side only are no loop", () => {
    expect(loopsOf([event(1), event(2), event(3)])).toEqual([]);
  });
});

describe("branches", () => {
  it("differ in the leaves of their policies", () => {
    const [a, b] = [{ spec: { kueue: { on: true, same: 1 } } }, { spec: { kueue: { on: false, same: 1 } } }];
    expect(changedLeaves(a, b)).toEqual([["spec.kueue.on", true, false]]);
    expect(changedLeaves(a, a)).toEqual([]);
  });
});

describe("the difference of two texts", () => {
  it("shows what goes and what comes, with a little around it", () => {
    const lines = diffLines("a\nb\nc\nd", "a\nb\nx\nd").map((line) => line.sign + line.text);
    expect(lines).toEqual([" a", " b", "-c", "+x", " d"]);
  });

  it("is nothing for equal texts", () => {
    expect(diffLines("a\nb", "a\nb").every((line) => line.sign === " ")).toBe(true);
  });
});

describe("the newest events", () => {
  const at = (revision: number): EventLine => event(revision, { revision, seq: 1 });
  const revisions = (lines: readonly EventLine[]): number[] => lines.map((one) => one.revision);

  it("are those listed and those at hand, each once", () => {
    expect(revisions(joinNewest([at(2), at(3)], 9, [at(1), at(3), at(4)]))).toEqual([4, 3, 2, 1]);
  });
  it("end where a full list ends, though older decisions are at hand", () => {
    expect(revisions(joinNewest([at(2), at(3)], 2, [at(1), at(3), at(4)]))).toEqual([4, 3, 2]);
  });
});
