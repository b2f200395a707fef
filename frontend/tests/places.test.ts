// Where things are: addresses of earlier versions, lanes of decisions, causes of what is selected, curves of a pair.
import { describe, expect, it } from "vitest";

import { placeNow } from "@/lib/address.svelte";
import { causesOf } from "@/store/policy/causes";
import { marksOf, startMarks } from "@/store/rows/lanes";
import { branchPlots } from "@/views/whatif/place/plots";
import type { Comparison, EventLine, WorkloadVerdict } from "@/protocol/types";
import type { RowStore } from "@/store/rows/rowStore.svelte";
import { event } from "./worlds";

describe("an address of an earlier version", () => {
  it.each([
    ["/s/a/workloads?phase=waiting", "/s/a/board?phase=waiting&density=table"],
    ["/s/a/events", "/s/a/decisions"],
    ["/s/a/events?table=pods", "/s/a/board?table=pods&density=table"],
    ["/s/a/preemptions?p=3.1", "/s/a/decisions?mode=graph&film=3.1"],
    ["/s/a/compare?with=b", "/s/a/what-if?with=b"],
    ["/s/a/compare", "/s/a/what-if?with="],
    ["/s/a/policy?switch=simulation.binding", "/s/a/what-if?switch=simulation.binding"],
    ["/s/a/runs?run=r", "/s/a/what-if?run=r&sure=search"],
    ["/s/a/advisor", "/s/a/what-if?sure=search"],
    ["/s/a/lessons?stop=3", "/s/a/board?lesson=3"],
    ["/s/a/lessons", "/s/a/board?lesson=1"],
  ])("%s leads to its place", (before, now) => {
    const [path = "", query = ""] = before.split("?");
    expect(placeNow(path, query === "" ? "" : `?${query}`)).toBe(now);
  });

  it("of this version stays", () => {
    expect(placeNow("/s/a/board", "?tick=3")).toBe("/s/a/board?tick=3");
    expect(placeNow("/account", "")).toBe("/account");
  });
});

describe("a lane of decisions", () => {
  const wide = (tick: number): number => 100 * tick;

  it("has the marks of its kind alone", () => {
    const events = [event(1), { ...event(2), type: "Admit" }] as EventLine[];
    expect(marksOf(events, "Admit", wide).map((mark) => mark.tick)).toEqual([2]);
  });

  it("draws what is too near to be seen apart as one, and counts it", () => {
    const events = [event(1), event(1), event(2)];
    expect(marksOf(events, "Preempt", (tick) => tick)).toMatchObject([{ tick: 1, count: 3 }]);
    expect(marksOf(events, "Preempt", wide).map((mark) => mark.count)).toEqual([2, 1]);
  });

  it("of a side has the starts that the other side has otherwise", () => {
    const row = (start: string, ms: number | null): WorkloadVerdict => ({ start, changed: { startedMs: ms }, without: { startedMs: null } }) as unknown as WorkloadVerdict;
    const rows = [row("earlier", 2500), row("same", 1000), row("never", null)];
    expect(startMarks(rows, "changed", 1000, wide).map((mark) => mark.tick)).toEqual([2]);
  });
});

describe("what decides over an object", () => {
  const rows = [
    { key: "Workload/t/w", kind: "Workload", clusterQueue: "q" },
    { key: "ClusterQueue//q", kind: "ClusterQueue", name: "q", cohort: "low" },
    { key: "Cohort//low", kind: "Cohort", name: "low", parent: "top" },
    { key: "Cohort//top", kind: "Cohort", name: "top", parent: "low" },
  ];
  const row = (key: string): unknown => rows.find((one) => one.key === key);
  const store = { row, get: (_: string, key: string) => row(key) } as unknown as RowStore;

  it("is its queue first, then the cohorts above, and a loop of cohorts ends", () => {
    expect(causesOf("Workload/t/w", store)).toEqual(["ClusterQueue//q", "Cohort//low", "Cohort//top", "Workload/t/w"]);
  });

  it("is nothing where nothing is selected, or what is selected is gone", () => {
    expect(causesOf(null, store)).toEqual([]);
    expect(causesOf("Node//gone", store)).toEqual([]);
  });
});

describe("two branches as curves", () => {
  it("draw what differs alone", () => {
    const side = (pending: number[]): unknown => ({ pending, utilisation: { cpu: [1, 1] }, shares: { a: [pending[0], 2] }, used: {} });
    const found = { series: { ticks: [1, 2], branches: [side([0, 1]), side([0, 2])] } } as unknown as Comparison;
    expect(branchPlots(found, 1, ["A", "B"], "cpu").map((plot) => [plot.id, plot.ghost.without, plot.ghost.changed])).toEqual([["pending", [0, 1], [0, 2]]]);
  });
});
