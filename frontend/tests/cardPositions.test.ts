import { describe, expect, it } from "vitest";

import type { WorkloadRow } from "@/protocol/types";
import { fitCards, heightOf } from "@/store/rows/fit";
import { compareRanks, placeOf, type CardPosition } from "@/store/rows/cardPositions";
import { workload } from "./worlds";

function rank(row: Partial<WorkloadRow>): CardPosition["rank"] {
  return placeOf(workload(row), "kueue")?.rank ?? [];
}

describe("the place of a workload", () => {
  it("is the column of its ClusterQueue and the section of its phase", () => {
    const place = placeOf(workload({ clusterQueue: "research", phase: "reserved" }), "kueue");
    expect(place?.column).toBe("ClusterQueue//research");
    expect(place?.section).toBe("reserved");
  });

  it("is none where the stack has no Workloads", () => {
    expect(placeOf(workload({}), "yunikorn")).toBeNull();
  });

  it("puts a sticky head first, then priority, then who came first", () => {
    const [sticky, high, early, late] = [
      rank({ sticky: true, priority: 0 }),
      rank({ priority: 100, orderUs: "900" }),
      rank({ priority: 10, orderUs: "100" }),
      rank({ priority: 10, orderUs: "200" }),
    ];
    const sorted = [late, high, sticky, early].sort(compareRanks);
    expect(sorted).toEqual([sticky, high, early, late]);
  });

  it("is one section for all that waits, in the order of the queue", () => {
    const [first, second] = [workload({ name: "a", phase: "inadmissible", priority: 10 }), workload({ name: "b", phase: "pending" })];
    expect([first, second].map((row) => placeOf(row, "kueue")?.section)).toEqual(["waiting", "waiting"]);
    expect(compareRanks(rank(first), rank(second))).toBe(-1);
  });

  it("puts the newest admission first", () => {
    const [old, fresh] = [
      rank({ phase: "admitted", admittedMs: 1_000 }),
      rank({ phase: "admitted", admittedMs: 9_000 }),
    ];
    expect([old, fresh].sort(compareRanks)).toEqual([fresh, old]);
  });
});

describe("the cards that fit a column", () => {
  const none = { waiting: 0, failed: 0, inactive: 0, reserved: 0, admitted: 0, finished: 0 };

  it("are all of them when the height suffices", () => {
    expect(fitCards({ ...none, waiting: 3, admitted: 4 }, 400)).toMatchObject({ waiting: 3, admitted: 4 });
  });

  it("leave height for a few of every later section", () => {
    const shown = fitCards({ ...none, waiting: 50, admitted: 20 }, 420);
    expect(shown.waiting).toBeLessThan(50);
    expect(shown.admitted).toBeGreaterThanOrEqual(3);
  });

  it("never need more than the column has", () => {
    const shown = fitCards({ ...none, waiting: 9, failed: 4, admitted: 30, finished: 2 }, 500);
    const used = heightOf("waiting", shown.waiting) + heightOf("failed", shown.failed);
    expect(used + heightOf("admitted", shown.admitted)).toBeLessThanOrEqual(500);
  });
});
