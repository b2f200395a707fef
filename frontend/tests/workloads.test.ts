import { describe, expect, it } from "vitest";

import { faceOfWorkload } from "@/store/rows/cards";
import type { ClusterQueueRow } from "@/protocol/types";
import { busiestPairs, mainPairOf, loadOf } from "@/store/rows/quotaMap";
import { treeOf } from "@/store/rows/quota";
import { columnOf, COLUMN_NAMES, columnsAt, csvLines, sorted } from "@/store/rows/workloadColumns";
import { matcher, parted, valuesOf, waitOf } from "@/store/rows/workloadTable";
import { cohortsOf } from "@/views/board/cohorts";

import { cell, cohort, queue, workload } from "./worlds";

const names = (rows: readonly { name: string }[]): string[] => rows.map((row) => row.name);

describe("the table of workloads", () => {
  const rows = [
    workload({ name: "a", clusterQueue: "alpha", phase: "pending", priority: 9, createdMs: 5000 }),
    workload({ name: "b", clusterQueue: "beta", phase: "inadmissible", priority: 10, createdMs: 1000 }),
    workload({ name: "c", clusterQueue: "beta", phase: "admitted", createdMs: 0, reservedMs: 3000, evictions: 2 }),
  ];

  it("finds who waits, in whichever list they stand", () => {
    expect(names(rows.filter(matcher({ phase: "waiting" })))).toEqual(["a", "b"]);
  });
  it("finds who was evicted before, whatever became of them", () => {
    expect(names(rows.filter(matcher({ phase: "evicted" })))).toEqual(["c"]);
  });
  it("needs every word and every field", () => {
    expect(names(rows.filter(matcher({ words: "TEAM b", queue: "beta" })))).toEqual(["b", "c"]);
  });
  it("counts the wait up to now, or up to the reservation", () => {
    expect(rows.map((row) => waitOf(row, 9000))).toEqual([4000, 8000, 3000]);
  });
  it("is in one order for equals, whichever way it is sorted", () => {
    const equal = [workload({ name: "y" }), workload({ name: "x" })];
    expect(names(sorted(equal, "priority", true, 0))).toEqual(["x", "y"]);
    expect(names(sorted(rows, "wait", true, 9000))).toEqual(["b", "a", "c"]);
  });
  it("begins on a phone with who waits, how long and why, and leaves no column out", () => {
    expect(columnsAt(390).slice(0, 3)).toEqual(["name", "wait", "reason"]);
    expect([...columnsAt(390)].sort()).toEqual([...COLUMN_NAMES].sort());
    expect(columnsAt(1280)).toEqual(COLUMN_NAMES);
    // Beside both lives of a what-if, and beside the inspector, the rest goes that its rows say elsewhere.
    expect(columnsAt(1182, 150)).not.toContain("user");
    expect(columnsAt(800)).toEqual(["name", "queue", "phase", "wait", "reason"]);
  });
  it("saves every column below its heading", () => {
    const [headings, first] = csvLines(rows, 9000);
    expect(headings).toEqual(COLUMN_NAMES.flatMap((name) => Object.keys(columnOf(name).csv)));
    expect(first?.[headings?.indexOf("waitSeconds") ?? -1]).toBe("4");
  });
  it("sorts priorities as numbers and names the highest first", () => {
    expect(valuesOf(rows, "priority").map(([value]) => value)).toEqual(["10", "9", "0"]);
  });
  it("is parted by a field without losing its order", () => {
    expect([...parted(rows, "queue")].map(([value, part]) => [value, part.length])).toEqual([["alpha", 1], ["beta", 2]]);
  });
});

describe("the map of queues", () => {
  const gpu = queue("gpu", [cell("nvidia.com/gpu", 8, 12), cell("cpu", 100, 10)]);
  const plain = queue("plain", [cell("cpu", 100, 50)]);

  const [mainOf, two] = [(queues: ClusterQueueRow[]): string => mainPairOf(queues, busiestPairs(queues)), queue("two", [cell("cpu", 0, 0, { flavor: "none" }), cell("cpu", 9, 9)])];

  it("is of the resource that is used most, of those that most queues have quota of", () => {
    expect(mainOf([gpu, plain])).toBe("plain/nvidia.com/gpu");
    expect(mainOf([gpu, plain, two])).toBe("plain/cpu");
  });
  it("begins with the flavor whose quota is used most, and ends with pairs without quota", () => {
    expect(busiestPairs([two])).toEqual(["plain/cpu"]);
    expect(busiestPairs([queue("a", [cell("nvidia.com/gpu", 0, 0), cell("cpu", 9, 0), cell("cpu", 4, 0, { flavor: "other" })])])).toEqual(["plain/cpu", "plain/nvidia.com/gpu"]);
  });
  it("says by how much a queue is over its nominal quota", () => {
    expect(loadOf(gpu, "plain/nvidia.com/gpu")).toBe(1.5);
    expect(loadOf(plain, "plain/nvidia.com/gpu")).toBe(0);
  });
  it("stands under its cohorts", () => {
    const tree = treeOf([cohort("all", []), cohort("other", [])], [gpu, { ...plain, cohort: "other" }]);
    expect(cohortsOf([plain.key, gpu.key], tree)).toEqual([
      { name: "other", cluster: "", columns: [plain.key] },
      { name: "all", cluster: "", columns: [gpu.key] },
    ]);
  });
  it("stands beside the queues of its worker cluster", () => {
    const [own, east] = [{ ...plain, cohort: "" }, { ...queue("east:gpu", []), cohort: "" }];
    expect(cohortsOf([own.key, east.key], treeOf([], [own, east]))).toEqual([
      { name: "", cluster: "", columns: [own.key] },
      { name: "east", cluster: "east", columns: [east.key] },
    ]);
  });
});

describe("the card of a dispatched workload", () => {
  it("says where it runs", () => {
    const face = faceOfWorkload(workload({ worker: "east", phase: "admitted" }));
    expect([face.request.endsWith(" · east"), face.note]).toEqual([true, "runs in east"]);
  });
  it("says where it is tried", () => {
    const face = faceOfWorkload(workload({ tried: ["east", "west"], phase: "reserved" }), ["regions"]);
    expect(face.note).toBe("waits in east, west · QuotaReserved");
  });
});

describe("why a workload waits, on its card", () => {
  const beyond = "insufficient quota for nvidia.com/gpu in flavor cpu-std, previously considered podsets requests (0)";
  const note = (given: Parameters<typeof workload>[0]): string => faceOfWorkload(workload(given)).note;

  it("says which flavor has none of what it asks", () => {
    const message = `${beyond} + current podset request (4) > maximum capacity (0)`;
    expect(note({ phase: "inadmissible", message })).toBe("no GPU in cpu-std");
  });
  it("says that quota is short where another flavor of its queue has it", () => {
    const message = `${beyond} + current podset request (4) > maximum capacity (0)`;
    const mixed = queue("a", [cell("nvidia.com/gpu", 8, 8, { flavor: "a100" }), cell("cpu", 8, 8, { flavor: "cpu-std" })]);
    expect(faceOfWorkload(workload({ phase: "inadmissible", message }), [], () => mixed).note).toBe("short of unused quota");
  });
  it("says that it asks for more than a flavor can have", () => {
    const message = `${beyond} + current podset request (4) > maximum capacity (2)`;
    expect(note({ phase: "inadmissible", message })).toBe("above the maximum of cpu-std");
  });
  it("says so where nothing was written on it", () => {
    const bypassed = "Bypassed scheduling evaluation because an equivalent workload recently failed";
    const equal = "equal to one that was refused";
    expect([note({ phase: "inadmissible", message: bypassed }), note({ phase: "inadmissible" })]).toEqual([equal, equal]);
    expect(note({ phase: "pending" })).toBe("not tried yet");
    expect(note({ phase: "finished" })).toBe("");
  });
});
