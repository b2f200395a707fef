import { describe, expect, it } from "vitest";

import { podsReadyOf, podsReadyPatch } from "@/store/policy/podsReady";
import { PRESETS, withPreset } from "@/store/policy/presets";

const policy = (kueue: object): object => ({ spec: { kueue } });

describe("waiting for pods ready", () => {
  it.each([
    [{ apiVersion: "config.kueue.x-k8s.io/v1beta2", waitForPodsReady: { timeout: "45s" } }, true],
    [{ apiVersion: "config.kueue.x-k8s.io/v1beta2" }, false],
    [{ apiVersion: "config.kueue.x-k8s.io/v1beta1", waitForPodsReady: { timeout: "45s" } }, false],
    [{ apiVersion: "config.kueue.x-k8s.io/v1beta1", waitForPodsReady: { enable: true } }, true],
  ])("is on in %j: %j", (kueue, on) => {
    expect(podsReadyOf(policy(kueue))).toBe(on);
  });

  it("is turned off as each version turns it off", () => {
    expect(podsReadyPatch(policy({ apiVersion: "config.kueue.x-k8s.io/v1beta2" }), false)).toEqual({ kueue: { waitForPodsReady: null } });
    expect(podsReadyPatch(policy({ apiVersion: "config.kueue.x-k8s.io/v1beta1" }), false)).toEqual({ kueue: { waitForPodsReady: { enable: false } } });
  });
});

describe("a preset", () => {
  it("changes strategy and preemption of a ClusterQueue and nothing else", () => {
    const [strict] = PRESETS;
    if (strict === undefined) throw new Error("no preset");
    const queue = { kind: "ClusterQueue", metadata: { name: "a" }, spec: { cohortName: "all", preemption: { reclaimWithinCohort: "Any" } }, status: {} };
    expect(withPreset(queue, strict)).toMatchObject({
      metadata: { name: "a" },
      spec: { cohortName: "all", queueingStrategy: "StrictFIFO", preemption: { withinClusterQueue: "Never", reclaimWithinCohort: "Never", borrowWithinCohort: { policy: "Never" } } },
    });
  });
});
