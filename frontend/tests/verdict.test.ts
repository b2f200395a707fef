import fc from "fast-check";
import { expect, test } from "vitest";

import type { ChangeVerdict, PairVerdict, RunCourse, WorkloadVerdict } from "@/protocol/types";
import { addedTo, changed, merged, type Part } from "@/store/edits/changes";
import { groupOf, inkOf, largest, lifeParts, median, scaleOf, shiftOf, teamsOf, type Shift } from "@/store/edits/verdict";

const course = (...stretches: RunCourse["stretches"]): RunCourse => ({ startedMs: null, finishedMs: null, place: "", evictions: 0, preemptions: 0, lostMs: 0, waitedMs: 0, stretches });
const stretch = (runs: boolean, fromMs: number, toMs: number, end = "", lostMs = 0): RunCourse["stretches"][number] => ({ runs, fromMs, toMs, end, lostMs, place: "", by: "", reason: "", keptMs: 0 });
const row = (fate: string, laterMs: number, queue = "a", end: WorkloadVerdict["end"] = "same"): WorkloadVerdict => ({
  subject: `Workload/ns/${fate}-${laterMs}`, fates: [fate], start: "same", end, queue, cohort: "", namespace: "ns", priorityClass: "", user: "", laterMs, waitingMs: laterMs, lostMs: 0, without: course(), changed: course(), why: null, members: [],
});
const totals = { units: 1, started: 0, finished: 0, evictions: 0, preemptions: 0, workLostMs: 0, waitedMs: 0, lastEndMs: null, share: 0 };
const team = (name: string, laterMs: number): ChangeVerdict["by"][string][number] => ({ name, laterMs, waitingMs: laterMs, lostMs: 0, evictions: 0, later: 0, earlier: 0, never: 0, added: 0, removed: 0, equal: 0, without: totals, changed: totals });
const pairOf = (...seeds: ChangeVerdict["by"][string][]): PairVerdict => ({ seeds: seeds.map((queue) => ({ verdict: { workloads: [row("endsLater", 5), row("endsEarlier", -3, "b"), row("equal", 0)], by: { queue } } })) }) as unknown as PairVerdict;

test("a row stands under the worst of its fates", () => {
  expect(["never", "startsLater", "only", "moved", "equal"].map((fate) => groupOf({ fates: [fate, "endsEarlier"] }))).toEqual(["never", "later", "earlier", "other", "equal"]);
  expect(shiftOf(row("endsLater", 40, "a", "never"))).toEqual({ ms: 40, atLeast: true });
  expect(shiftOf(row("endsEarlier", -20))).toEqual({ ms: 20, atLeast: false });
  expect(shiftOf(row("moved", 0))).toBeNull();
});

test("a row has the colour of the time that it says, whatever it stands under", () => {
  expect([inkOf(row("startsLater", -350_000)), inkOf(row("endsLater", 4)), inkOf(row("never", 9)), inkOf(row("moved", 9))]).toEqual(["pass", "fail", "fail", "second"]);
});

test("a team has its own rows, and the range of all seeds", () => {
  const [first, second] = teamsOf(pairOf([team("a", 5), team("b", -3)], [team("a", 9)]), "queue");
  expect([first?.later.length, first?.range]).toEqual([1, [5, 9]]);
  expect([second?.earlier.length, second?.range]).toEqual([1, [-3, 0]]);
});

test("all teams and the mark of nothing have room on one scale, later to the left", () => {
  const amount = fc.integer({ min: -1e8, max: 1e8 });
  fc.assert(fc.property(fc.array(amount, { minLength: 1, maxLength: 9 }), (amounts) => {
    const scale = scaleOf(teamsOf(pairOf(amounts.map((ms, at) => team(String(at), ms))), "queue"));
    for (const ms of amounts) expect(scale.at(ms)).toBeGreaterThanOrEqual(0);
    for (const ms of amounts) expect(scale.at(ms)).toBeLessThanOrEqual(100);
    for (const ms of amounts) if (ms > 0) expect(scale.at(ms)).toBeLessThan(scale.zero);
    expect(scale.marks.length).toBeLessThanOrEqual(7);
  }));
});

test("a median is exact where every unfinished span is longer than it", () => {
  const spans: Shift[] = [{ ms: 1, atLeast: false }, { ms: 2, atLeast: false }, { ms: 9, atLeast: true }];
  expect(median(spans)).toEqual({ ms: 2, atLeast: false });
  expect(median([{ ms: 1, atLeast: true }, ...spans.slice(1)])).toEqual({ ms: 2, atLeast: true });
  expect(largest(spans)).toEqual({ ms: 9, atLeast: true });
  expect(median([])).toBeNull();
});

test("a life is never drawn outside its bar, and what must be done again is a part of its own", () => {
  const time = fc.integer({ min: -1000, max: 3000 });
  fc.assert(fc.property(time, time, time, (from, to, lost) => {
    const [start, end] = [Math.min(from, to), Math.max(from, to)];
    for (const { left, width } of lifeParts(course(stretch(true, start, end, "evicted", Math.max(0, lost))), 0, 1000)) {
      expect(Math.min(left, width)).toBeGreaterThanOrEqual(0);
      expect(left + width).toBeLessThanOrEqual(100.000001);
    }
  }));
  const life = course(stretch(false, 0, 100, "starts"), stretch(true, 100, 500, "preempted", 300), stretch(false, 500, 1000));
  expect(lifeParts(life, 0, 1000).map(({ kind, stopped }) => [kind, stopped])).toEqual([["waits", false], ["runs", false], ["lost", true], ["waits", false]]);
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
