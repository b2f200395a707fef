import { describe, expect, it } from "vitest";

import { podsReadyOf, podsReadyPatch } from "@/store/policy/podsReady";
import { PRESETS, withPreset } from "@/store/policy/presets";
import { groupsOf } from "@/store/policy/switches";
import { STACK_PRESETS, stackChanges, stackPatch } from "@/store/policy/stackPresets";

const policy = (kueue: object): object => ({ spec: { kueue } });

it.each([["kueue", ["kueue", "kubernetes"]], ["kube", ["kubernetes"]], ["yunikorn", ["yunikorn"]]])("%s has the releases of %j", (stack, schedulers) => {
  const found = groupsOf(stack).find((group) => group.word === "group.release");
  expect(found?.switches.map((one) => one.path)).toEqual(schedulers.map((one) => `release.${one}`));
});

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

describe("a preset of kube-scheduler or YuniKorn", () => {
  const partitions = [{ name: "default", queues: [{ name: "root", properties: { "application.sort.policy": "fair" }, queues: [{ name: "a", resources: { max: { vcore: 4 } } }, { name: "b" }] }] }];
  const kube = { profiles: [{ schedulerName: "one", plugins: { multiPoint: { enabled: [{ name: "Coscheduling" }] }, queueSort: { enabled: [{ name: "Coscheduling" }], disabled: [{ name: "*" }] } } }, { schedulerName: "two" }] };
  const policies: Readonly<Record<string, object>> = { kube: { spec: { kubeScheduler: kube } }, yunikorn: { spec: { yunikorn: { queues: { partitions } } } } };
  const cases = Object.entries(STACK_PRESETS).flatMap(([stack, presets]) => presets.map((preset) => [stack, preset] as const));

  it.each(cases)("of %s holds once it is set, and only it", (stack, preset) => {
    const spec = stackPatch(stack, preset, policies[stack]);
    const holding = (STACK_PRESETS[stack] ?? []).filter((one) => stackChanges(stack, one, { spec }).length === 0);
    expect(holding).toEqual([preset]);
  });

  it("says from what to what, of each profile and partition", () => {
    const [spread] = STACK_PRESETS["kube"] ?? [];
    const [first] = STACK_PRESETS["yunikorn"] ?? [];
    if (spread === undefined || first === undefined) throw new Error("no preset");
    expect(stackChanges("kube", spread, policies["kube"])).toEqual(["one: Coscheduling on → off"]);
    expect(stackChanges("yunikorn", first, policies["yunikorn"])).toEqual(["default: application.sort.policy fair → fifo, preemption.enabled on → off"]);
  });

  it("is read of a policy that says nothing: the defaults spread and preempt", () => {
    const held = (STACK_PRESETS["kube"] ?? []).filter((one) => stackChanges("kube", one, { spec: {} }).length === 0);
    expect(held.map((one) => one.id)).toEqual(["spread"]);
  });

  it("leaves the rest of a queue as it is", () => {
    const [first] = STACK_PRESETS["yunikorn"] ?? [];
    if (first === undefined) throw new Error("no preset");
    expect(JSON.stringify(stackPatch("yunikorn", first, policies["yunikorn"]))).toContain('"max":{"vcore":4}');
  });
});
