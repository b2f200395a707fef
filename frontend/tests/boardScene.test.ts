// The board of a stage: what the spotlight falls on.
import { expect, it } from "vitest";

import { boardScene, type StageBoard, type StageQueue } from "@/views/lessons/stage/boardScene";

const node = (name: string, pod: string): StageBoard["nodes"][number] => ({ key: `Node//${name}`, name, used: { cpu: "1" }, allocatable: { cpu: "4" }, pods: [{ key: `Pod/d/${pod}`, name: pod }] });
const queue = (name: string): StageQueue => ({ key: `ClusterQueue//${name}`, name, colour: "red", resource: "", used: 0, quota: null, waiting: [], running: [] });
const nodes = [node("a", "first"), node("b", "second")];

it.each([1, 3])("lights the node of a pod, beside %i queues", (count) => {
  const queues = Array.from({ length: count }, (_, n) => queue(`q${n}`));
  const scene = boardScene({ queues, nodes }, 396, new Set(["Pod/d/second"]));
  const dim = nodes.map((one) => scene.find((group) => group.id === `node ${one.key}`)?.dim);
  expect(dim).toEqual([true, false]);
});
