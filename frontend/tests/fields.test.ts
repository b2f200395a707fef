import { describe, expect, it } from "vitest";

import { fieldAt, fieldsOf, patchOf, placeOf, type Field } from "@/store/edits/fields";

const QUEUE = {
  kind: "ClusterQueue",
  spec: {
    fairSharing: { weight: "2" },
    resourceGroups: [{ coveredResources: ["cpu"], flavors: [{ name: "a", resources: [{ name: "cpu", nominalQuota: 4, borrowingLimit: 1 }] }] }],
  },
};
const WORKLOAD = {
  kind: "Workload",
  metadata: { annotations: { "quotalab.dev/runtime": "30s" } },
  spec: { priority: 5, podSets: [{ name: "main", count: 3, template: { spec: { containers: [{ resources: { requests: { cpu: "1" } } }] } } }] },
};

const named = (manifest: object, name: string): Field => {
  const found = fieldsOf(manifest as Record<string, unknown>).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no field ${name}`);
  return found;
};

describe("the fields of a manifest", () => {
  it("of a queue are its weight and each quota with its limits", () => {
    expect(fieldsOf(QUEUE).map((one) => [one.group, one.name, one.text])).toEqual([
      ["", "weight", "2"],
      ["a · cpu", "nominalQuota", "4"],
      ["a · cpu", "borrowingLimit", "1"],
      ["a · cpu", "lendingLimit", ""],
    ]);
  });

  it("of a workload are its priority, run time, counts and requests", () => {
    expect(fieldsOf(WORKLOAD).map((one) => one.name)).toEqual(["priority", "quotalab.dev/runtime", "count", "minCount", "cpu"]);
  });
});

describe("a patch of fields", () => {
  it("sends a list back whole with the one field changed", () => {
    const patch = patchOf(QUEUE, [[named(QUEUE, "nominalQuota"), "6"]]);
    expect(patch).toEqual({ spec: { resourceGroups: [{ coveredResources: ["cpu"], flavors: [{ name: "a", resources: [{ name: "cpu", nominalQuota: "6", borrowingLimit: 1 }] }] }] } });
  });

  it("holds every change, whole numbers as numbers", () => {
    const patch = patchOf(WORKLOAD, [[named(WORKLOAD, "priority"), "7"], [named(WORKLOAD, "count"), "2"], [named(WORKLOAD, "cpu"), "500m"]]);
    expect(patch).toMatchObject({ spec: { priority: 7, podSets: [{ count: 2, template: { spec: { containers: [{ resources: { requests: { cpu: "500m" } } }] } } }] } });
  });

  it("takes away what is emptied", () => {
    expect(patchOf(QUEUE, [[named(QUEUE, "weight"), ""]])).toEqual({ spec: { fairSharing: { weight: null } } });
  });

  it("leaves what is no number to the server, which says so", () => {
    expect(patchOf(WORKLOAD, [[named(WORKLOAD, "priority"), "high"]])).toEqual({ spec: { priority: "high" } });
  });
});

describe("a refusal", () => {
  it("belongs to the field at its place, or to the one that its place is part of", () => {
    const count = named(WORKLOAD, "count");
    expect(fieldAt(fieldsOf(WORKLOAD), placeOf(count.path))).toEqual(count);
    expect(fieldAt(fieldsOf(WORKLOAD), "metadata.annotations")?.name).toBe("quotalab.dev/runtime");
    expect(fieldAt(fieldsOf(WORKLOAD), "spec.queueName")).toBeUndefined();
  });
});
