// What branches do not share is every setting of their queues, and no number of their runs.
import { describe, expect, it } from "vitest";

import type { AnyRow } from "@/protocol/types";
import { settingChanges } from "@/store/rows/configuration";
import { cell, cohort, queue, workload } from "./worlds";

const page = (...rows: readonly AnyRow[]): ReadonlyMap<string, AnyRow> => new Map(rows.map((row) => [row.key, row]));

describe("what two pages set otherwise", () => {
  it("is a switch and a quota of a ClusterQueue, not what it uses", () => {
    const ours = page(queue("alpha", [cell("cpu", 4000, 1000)]));
    const theirs = page(queue("alpha", [cell("cpu", 6000, 3000)], { withinClusterQueue: "LowerPriority" }));
    expect(settingChanges(ours, theirs)).toEqual([
      { subject: "ClusterQueue//alpha", setting: "withinClusterQueue", ours: "Never", theirs: "LowerPriority" },
      { subject: "ClusterQueue//alpha", setting: "plain cpu nominalQuota", ours: "4000", theirs: "6000" },
    ]);
  });

  it("is a cohort's own quota, not what its queues lend it", () => {
    const tree = (own: number, lent: number) => page(cohort("all", [cell("cpu", own + lent, 0)]), queue("alpha", [cell("cpu", lent, 0)]));
    const found = settingChanges(tree(1000, 4000), tree(1000, 5000));
    expect(found.map((one) => one.subject)).toEqual(["ClusterQueue//alpha"]);
  });

  it("is a queue that one of them has alone, and a workload that was moved", () => {
    const ours = page(queue("alpha", []), workload({ name: "a" }), workload({ name: "new" }));
    const theirs = page(workload({ name: "a", localQueue: "other" }));
    expect(settingChanges(ours, theirs).map((one) => [one.subject, one.ours, one.theirs])).toEqual([
      ["ClusterQueue//alpha", "alpha", ""], ["Workload/team/a", "local-queue", "other"],
    ]);
  });
});
