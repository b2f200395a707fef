import { describe, expect, it } from "vitest";

import { manifestsOf, questionAt, questionsOf, type Around } from "@/store/edits/adding";

const AROUND: Around = {
  stack: "kueue", localQueues: ["teams/to-alpha"], cohorts: ["all"], parents: ["root"], policy: {}, flavors: ["plain"], priorityClasses: ["deadline"],
  resources: ["cpu", "memory"], nodeLabels: { pool: "a" }, nodeAmounts: { cpu: "8" }, free: (stem) => `${stem}-1`,
};
const answers = (kind: "workload" | "queue" | "node", more: Record<string, string> = {}): Record<string, string> => ({
  ...Object.fromEntries(questionsOf(kind, AROUND).map((one) => [one.id, one.first])),
  ...more,
});

describe("what is added by hand", () => {
  it("is a Job in the LocalQueue's namespace, suspended until Kueue admits it", () => {
    const [job] = manifestsOf("workload", answers("workload", { count: "3", priorityClass: "deadline" }), AROUND);
    expect(job).toMatchObject({
      kind: "Job",
      metadata: { namespace: "teams", labels: { "kueue.x-k8s.io/queue-name": "to-alpha", "kueue.x-k8s.io/priority-class": "deadline" } },
      spec: { suspend: true, parallelism: 3, completions: 3 },
    });
  });

  it("is a queue with the flavor that it names and a LocalQueue that leads to it", () => {
    const made = manifestsOf("queue", answers("queue", { flavor: "fast" }), AROUND);
    expect(made.map((one) => one["kind"])).toEqual(["ResourceFlavor", "ClusterQueue", "LocalQueue"]);
  });

  it("is as many nodes as asked, each with a name of its own", () => {
    const made = manifestsOf("node", answers("node", { copies: "2" }), AROUND) as { metadata: { name: string } }[];
    expect(made.map((one) => one.metadata.name)).toEqual(["node-1-1", "node-1-2"]);
  });
});

describe("a queue added to YuniKorn", () => {
  const around = (queues: readonly object[]): Around => ({ ...AROUND, stack: "yunikorn", parents: ["root", "root.a"], policy: { kind: "Policy", spec: { yunikorn: { queues: { partitions: [{ name: "default", queues }] } } } } });
  const added = (parent: string, queues: readonly object[]): unknown => {
    const made = manifestsOf("queue", { name: "new", parent, "of:max vcore": "8", "of:guaranteed vcore": "", sort: "fair" }, around(queues));
    return (made[0] as { spec: { yunikorn: { queues: { partitions: { queues: unknown }[] } } } }).spec.yunikorn.queues.partitions[0]?.queues;
  };
  const made = { name: "new", resources: { max: { vcore: "8" } }, properties: { "application.sort.policy": "fair" } };

  it("stands beside its parent's other children, and all others stay", () => {
    const tree = [{ name: "root", queues: [{ name: "a", queues: [{ name: "b" }] }, { name: "c" }] }];
    expect(added("root.a", tree)).toEqual([{ name: "root", queues: [{ name: "a", queues: [{ name: "b" }, made] }, { name: "c" }] }]);
  });

  it("is at the top of a file that leaves root out", () => {
    expect(added("root", [{ name: "a" }])).toEqual([{ name: "a" }, made]);
  });

  it("is asked for by the names that the file of queues has", () => {
    expect(questionsOf("queue", around([])).map((one) => one.id)).toContain("of:guaranteed vcore");
  });
});

describe("a refusal of what is added", () => {
  it.each([
    ["spec.resourceGroups[0].flavors[0].resources[1].nominalQuota", "resource:memory"],
    ["spec.template.spec.containers[0].resources.requests.cpu", "resource:cpu"],
    ["metadata.name", "name"],
    ["spec.fairSharing.weight", "weight"],
    ["spec.stopPolicy", ""],
  ])("at %s belongs to the question %j", (place, question) => {
    expect(questionAt(place, ["cpu", "memory"])).toBe(question);
  });
});
