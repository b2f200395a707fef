// Decisions fold: a gang's pods at one instant, and what it tries in vain again and again.
import { expect, test } from "vitest";

import type { EventLine } from "@/protocol/types";
import { foldedOf, ownerOf } from "@/store/rows/folded";

const event = (more: Partial<EventLine>): EventLine => ({ revision: 1, seq: 0, tick: 1, tMs: 1000, type: "Bind", subject: "Pod/a/gang-main-0", by: "", reason: "", message: "", ...more });
const owner = (key: string): string => ownerOf(key, (one) => one === "Workload/a/gang");
const fold = (events: readonly EventLine[]) => foldedOf(events, owner, (key) => key.split("/").at(-1) ?? "");

test("the pods of a workload that are bound at one instant are one line", () => {
  const pods = [0, 1, 2].map((n) => event({ seq: n, subject: `Pod/a/gang-main-${n}`, message: `to node ${n}` }));
  expect(fold(pods)).toMatchObject([{ subject: "Workload/a/gang", subjects: 3, times: 1 }]);
});

test("pods that are bound at two instants are two lines", () => {
  expect(fold([event({ tick: 2, tMs: 2000 }), event({})])).toHaveLength(2);
});

test("a failure that repeats with the same reason is one line with its first instant", () => {
  const fails = Array.from({ length: 600 }, (_, n) => event({ type: "Fail", tick: 620 - n, tMs: 1000 * (620 - n), message: "0/4 nodes" }));
  expect(fold(fails)).toMatchObject([{ times: 600, fromMs: 21_000, event: { tick: 620 } }]);
});

test("a failure for another reason is a line of its own", () => {
  expect(fold([event({ type: "Fail", message: "0/4 nodes" }), event({ type: "Fail", message: "0/5 nodes" })])).toHaveLength(2);
});

test("a pod whose Workload is not there stays itself", () => {
  expect(owner("Pod/a/other-main-0")).toBe("Pod/a/other-main-0");
});
