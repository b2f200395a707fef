// The life line has its stops in the order of time, also after an eviction that is over.
import { describe, expect, it } from "vitest";

import { lifeOf } from "@/store/explain/life";
import { tickOf } from "@/lib/times";
import { event, workload } from "./worlds";

const condition = (type: string, status: boolean, sinceMs: number) => ({ type, status, sinceMs, reason: "", message: "" });
const ticksIn = (stops: ReturnType<typeof lifeOf>): number[] => stops.flatMap((stop) => (stop.tick === null ? [] : [stop.tick]));

describe("the life line", () => {
  it("shows a time in the first tick that has it", () => {
    expect([tickOf(67_583, 1000), tickOf(68_000, 1000), tickOf(0, 1000)]).toEqual([68, 68, 0]);
  });

  it("of one who runs again has the eviction before the new run", () => {
    const row = workload({
      name: "victim", phase: "admitted", createdMs: 35_000, evictions: 1, reservedMs: 67_583, admittedMs: 67_583, readyMs: 68_583,
      conditions: [condition("Evicted", false, 67_583), condition("Requeued", true, 66_889), condition("PodsReady", true, 68_583)],
    });
    const stops = lifeOf(row, [event(67)], 1000);
    expect(ticksIn(stops)).toEqual([35, 67, 67, 68, 68, 69]);
    expect(stops.find((stop) => stop.now)?.name).toBe("ready");
  });

  it("of one who was evicted twice is requeued no earlier than evicted", () => {
    const row = workload({
      phase: "pending", createdMs: 1000, evictions: 2, evicted: true,
      conditions: [condition("Evicted", true, 80_172), condition("Requeued", true, 73_878), condition("QuotaReserved", false, 80_172)],
    });
    const stops = lifeOf(row, [event(74, { type: "Admit" })], 1000);
    expect(ticksIn(stops)).toEqual([1, 74, 74, 81, 81]);
    expect(stops.find((stop) => stop.now)?.name).toBe("requeued");
  });
});
