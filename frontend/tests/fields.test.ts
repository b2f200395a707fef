import { describe, expect, it } from "vitest";

import { fieldAt, fieldsOf, patchOf, placeOf, type ManifestField } from "@/store/edits/fields";

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

const named = (manifest: object, name: string): ManifestField => {
  const found = fieldsOf(manifest as Record<string, unknown>).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no field ${name}`);
  return found;
};

describe("the fields of a manifest", () => {
  it("of a queue are its switches, its weight and each quota with its limits", () => {
    const found = fieldsOf(QUEUE);
    expect(found.slice(0, 5).map((one) => [one.name, one.choices?.length])).toEqual([["reclaimWithinCohort", 3], ["withinClusterQueue", 3], ["policy", 2], ["queueingStrategy", 2], ["stopPolicy", 3]]);
    expect(found.slice(5).map((one) => [one.group, one.name, one.text])).toEqual([
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

describe("a queue of YuniKorn", () => {
  const policy = (queues: object[]): Record<string, unknown> => ({ kind: "Policy", spec: { yunikorn: { queues: { partitions: [{ name: "default", queues }] } } } });
  const leaf = { name: "b", resources: { guaranteed: { vcore: "4" }, max: { "nvidia.com/gpu": "2" } }, properties: { "priority.offset": "10" } };
  const found = (manifest: Record<string, unknown>, queue: string): (readonly [string, string, string])[] => fieldsOf(manifest, queue).filter((one) => one.text !== "").map((one) => [one.group, one.name, one.text]);

  it("has the fields of its entry in queues.yaml, with root and where the file leaves root out", () => {
    const fields = [["guaranteed", "vcore", "4"], ["max", "nvidia.com/gpu", "2"], ["", "priority.offset", "10"]];
    expect(found(policy([{ name: "root", queues: [{ name: "a" }, leaf] }]), "root.b")).toEqual(fields);
    expect(found(policy([{ name: "a" }, leaf]), "root.b")).toEqual(fields);
  });

  it("has none when the file does not name it", () => {
    expect(fieldsOf(policy([{ name: "root" }]), "root.made-by-a-rule")).toEqual([]);
  });

  it("is patched by its whole list of partitions; what is emptied is left out", () => {
    const manifest = policy([{ name: "root", queues: [{ name: "a" }, leaf] }]);
    const field = (name: string, group = ""): ManifestField => fieldsOf(manifest, "root.b").find((one) => one.name === name && one.group === group) as ManifestField;
    const patch = patchOf(manifest, [[field("vcore", "max"), "8"], [field("priority.offset"), ""], [field("preemption.policy"), "fence"]]);
    const sent = JSON.parse(JSON.stringify(patch)) as unknown;
    expect(sent).toEqual({ spec: { yunikorn: { queues: { partitions: [{ name: "default", queues: [{ name: "root", queues: [{ name: "a" }, { name: "b", resources: { guaranteed: { vcore: "4" }, max: { "nvidia.com/gpu": "2", vcore: "8" } }, properties: { "preemption.policy": "fence" } }] }] }] } } } });
  });
});

const NODE = {
  kind: "Node",
  metadata: { labels: { zone: "a", disk: "ssd" } },
  spec: { taints: [{ key: "gpu", value: "true", effect: "NoSchedule" }, { key: "spot", effect: "NoExecute" }] },
  status: { allocatable: { cpu: "4" } },
};

describe("labels and taints of a node", () => {
  const [labels, taints] = [named(NODE, "labels"), named(NODE, "taints")];

  it("are written as kubectl writes them", () => {
    expect(labels.text).toBe("zone=a, disk=ssd");
    expect(taints.text).toBe("gpu=true:NoSchedule, spot:NoExecute");
  });

  it("that are not named are taken away", () => {
    expect(patchOf(NODE, [[labels, "zone=b, new"]])).toEqual({ metadata: { labels: { zone: "b", disk: null, new: "" } } });
    expect(patchOf(NODE, [[taints, "spot:NoExecute"]])).toEqual({ spec: { taints: [{ key: "spot", effect: "NoExecute" }] } });
    expect(patchOf(NODE, [[taints, ""]])).toEqual({ spec: { taints: null } });
  });

  it("have the refusal of one of them at their field", () => {
    expect(fieldAt([labels, taints], "spec.taints[0].effect")).toBe(taints);
  });
});
