// Edits of a KubeSchedulerConfiguration say what was meant and leave the rest as it was.

import { describe, expect, test } from "vitest";

import type { PluginState } from "@/protocol/types";
import { fieldOf, setArgument, setPlugin, setPoint, setWeight, withProfile } from "@/store/policy/profiles";

const fit: PluginState = { name: "NodeResourcesFit", points: ["filter", "score"], on: ["filter", "score"], weight: 1, args: {} };
const qos: PluginState = { name: "QOSSort", points: ["queueSort"], on: [], weight: null, args: null };

describe("a profile", () => {
  test("of an empty document is written out when it is changed", () => {
    const next = withProfile({}, 0, 0, (profile) => ({ ...profile, percentageOfNodesToScore: 50 }));
    expect(next).toEqual({
      apiVersion: "kubescheduler.config.k8s.io/v1",
      kind: "KubeSchedulerConfiguration",
      profiles: [{ schedulerName: "default-scheduler", percentageOfNodesToScore: 50 }],
    });
  });
  test("of the second configuration of a List is changed there", () => {
    const list = { kind: "List", items: [{ profiles: [{ schedulerName: "a" }] }, { profiles: [{ schedulerName: "b" }] }] };
    const next = withProfile(list, 1, 0, () => ({ schedulerName: "c" }));
    expect(next["items"]).toMatchObject([{ profiles: [{ schedulerName: "a" }] }, { profiles: [{ schedulerName: "c" }] }]);
  });
});

describe("a plug-in", () => {
  test("that is put off at a point is disabled there, and on again leaves no trace", () => {
    const off = setPoint({}, "ImageLocality", "score", false);
    expect(off).toEqual({ plugins: { score: { disabled: [{ name: "ImageLocality" }] } } });
    expect(setPoint(off, "ImageLocality", "score", true)).toEqual({ plugins: {} });
  });
  test("that is put off everywhere is disabled at multiPoint", () => {
    expect(setPlugin({}, fit, false)).toEqual({ plugins: { multiPoint: { disabled: [{ name: "NodeResourcesFit" }] } } });
  });
  test("that sorts the queue takes the place of the one that did", () => {
    const next = setPlugin({}, qos, true);
    expect(next).toEqual({ plugins: { queueSort: { enabled: [{ name: "QOSSort" }], disabled: [{ name: "*" }] } } });
    expect(setPoint(next, "PrioritySort", "queueSort", true)).toEqual({ plugins: {} });
  });
  test("keeps its place when only its weight changes", () => {
    const next = setWeight({}, "NodeResourcesFit", 5);
    expect(next).toEqual({ plugins: { multiPoint: { enabled: [{ name: "NodeResourcesFit", weight: 5 }] } } });
  });
  test("has one argument changed, the others stay", () => {
    const before = { pluginConfig: [{ name: "NodeResourcesFit", args: { ignoredResources: ["x"] } }] };
    const next = setArgument(before, "NodeResourcesFit", ["scoringStrategy", "type"], "MostAllocated");
    expect(next).toEqual({
      pluginConfig: [{ name: "NodeResourcesFit", args: { ignoredResources: ["x"], scoringStrategy: { type: "MostAllocated" } } }],
    });
  });
});

test("a schema's reference that may be null is a group of its fields", () => {
  const definitions = { Strategy: { properties: { type: { enum: ["A", "B"], default: "A" } } } };
  const field = fieldOf({ anyOf: [{ $ref: "#/$defs/Strategy" }, { type: "null" }] }, definitions);
  expect(field.kind).toBe("group");
  expect(field.children[0]?.[1]).toMatchObject({ kind: "choice", choices: ["A", "B"], first: "A" });
});
