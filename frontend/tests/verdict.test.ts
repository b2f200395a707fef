import fc from "fast-check";
import { expect, test } from "vitest";

import type { RunCourse, WorkloadVerdict } from "@/protocol/types";
import { addedTo, changed, merged, type Part } from "@/store/edits/changes";
import { groupOf, largest, lifeBar, median, shiftOf, type Shift } from "@/store/edits/verdict";

const course = (startedMs: number | null, finishedMs: number | null = null): RunCourse => ({ startedMs, finishedMs, place: "", evictions: 0, preemptions: 0, lostMs: 0 });
const row = (start: WorkloadVerdict["start"], without: number | null, after: number | null): WorkloadVerdict => ({
  subject: "Workload/ns/one", start, gains: false, loses: false, without: course(without), changed: course(after),
});

test("what starts with the change alone starts earlier, by at least what is left of the time", () => {
  const only = row("only", null, 40);
  expect(groupOf(only)).toBe("earlier");
  expect(shiftOf(only, { fromMs: 0, toMs: 100 })).toEqual({ ms: 60, atLeast: true });
  expect(shiftOf(row("later", 10, 30), { fromMs: 0, toMs: 100 })).toEqual({ ms: 20, atLeast: false });
  expect(shiftOf(row("same", 10, 10), { fromMs: 0, toMs: 100 })).toBeNull();
  expect(shiftOf(row("only", null, -5), { fromMs: 0, toMs: 100 })).toBeNull(); // it keeps its place
});

test("a median is exact where every unfinished span is longer than it", () => {
  const spans: Shift[] = [{ ms: 1, atLeast: false }, { ms: 2, atLeast: false }, { ms: 9, atLeast: true }];
  expect(median(spans)).toEqual({ ms: 2, atLeast: false });
  expect(median([{ ms: 1, atLeast: true }, ...spans.slice(1)])).toEqual({ ms: 2, atLeast: true });
  expect(largest(spans)).toEqual({ ms: 9, atLeast: true });
  expect(median([])).toBeNull();
});

test("a life is never drawn outside its bar", () => {
  const time = fc.option(fc.integer({ min: -1000, max: 3000 }), { nil: null });
  fc.assert(fc.property(time, time, (started, finished) => {
    const { waits, runs } = lifeBar(course(started, started === null || finished === null ? null : Math.max(started, finished)), 0, 1000);
    expect(Math.min(waits, runs)).toBeGreaterThanOrEqual(0);
    expect(waits + runs).toBeLessThanOrEqual(100.000001);
  }));
});

test("a manifest has the changes of its own object, the last one last", () => {
  const key = { kind: "ClusterQueue", namespace: "", name: "alpha" };
  const parts: Part[] = [
    { patch: { ...key, body: { spec: { stopPolicy: "Hold" } } } },
    { patch: { ...key, name: "beta", body: { spec: { stopPolicy: "HoldAndDrain" } } } },
    { patch: { ...key, body: { spec: { stopPolicy: "None", cohortName: null } } } },
    { policy: { spec: { stack: "kube" } } },
  ];
  expect(changed(parts, "ClusterQueue//alpha", { spec: { cohortName: "team" } })).toEqual({ spec: { stopPolicy: "None" } });
  expect(changed(parts, "Policy//policy", { spec: {} })).toEqual({ spec: { stack: "kube" } });
});

test("a merge patch that is laid over twice changes nothing more", () => {
  const json = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(fc.integer(), fc.constant(null), fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(fc.integer(), fc.constant(null)))));
  fc.assert(fc.property(json, json, (document, patch) => {
    const once = merged(document, patch);
    expect(merged(once, patch)).toEqual(once);
  }));
});

const job: Part = { apply: { kind: "Job", metadata: { name: "train", namespace: "ml", labels: { "kueue.x-k8s.io/queue-name": "team" } } } };
const queueOf = (key: string): string | undefined => (key === "LocalQueue/ml/team" ? "gpu" : undefined);

test("shows work that is added in the ClusterQueue of its LocalQueue, by the Workload that it becomes", () => {
  expect([...addedTo([job], ["Workload/ml/job-other-1", "Workload/ml/job-train-a1b2c"], queueOf)]).toEqual([["Workload/ml/job-train-a1b2c", "ClusterQueue//gpu"]]);
});

test("shows no work before it is there, or where its queue is not known", () => {
  expect([addedTo([job], [], queueOf).size, addedTo([job], ["Workload/ml/job-train-a1b2c"], () => undefined).size]).toEqual([0, 0]);
});
