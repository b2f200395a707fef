// The board of the page that is shown, as the stage draws it.

import { queueColour } from "@/draw/palette";
import { amount, mainResource } from "@/lib/amounts";
import { live } from "@/store/live/live.svelte";
import { displayNameOf } from "@/store/live/displayNames";
import { queues } from "@/store/live/queues.svelte";
import { nameOf } from "@/store/live/intents";
import { faceOf, sectionText } from "@/store/rows/cards";
import { SECTIONS } from "@/store/rows/cardPositions";
import { leavesOf, pairsOf, splitPair, subtreeLevel } from "@/store/rows/quota";
import type { StageBoard, StageCard, StageParent, StageQueue } from "@/views/lessons/stage/boardScene";

const ON_NODE = new Set(["bound", "ready", "running"]);
const RUNS = new Set(["admitted", "reserved"]);
const OUT: ReadonlySet<string> = new Set(["inactive", "failed"]);

/** Return queues and nodes of the tick that is shown; reactive where it is read. */
export function boardNow(): StageBoard {
  // A pod that waits for its binding is on the node that is held for it.
  const pods = live.shown.all("Pod").filter((pod) => pod.heldOn !== "" || (pod.node !== "" && ON_NODE.has(pod.phase)));
  const nodes = live.shown.all("Node").map(({ key, name, used, allocatable }) => ({
    key, name, used, allocatable,
    pods: pods.filter((pod) => (pod.heldOn || pod.node) === name),
  }));
  return { parents: live.stack === "yunikorn" ? queuesAbove() : cohortsAbove(), queues: queues.columns.map(queueNow), nodes };
}

function cohortsAbove(): StageParent[] {
  const { tree } = queues;
  return tree.flatMap(({ row, depth }) => {
    if (row.kind !== "Cohort") return [];
    const leaves = leavesOf(tree, row.key).map(({ key }) => key);
    const resource = usageOf(leaves[0] ?? "")[0];
    const levels = pairsOf([row, ...queues.leaves]).filter((pair) => splitPair(pair)[1] === resource).map((pair) => subtreeLevel(tree, row.key, pair));
    const sum = (of: "used" | "nominal"): number => levels.reduce((total, level) => total + level[of], 0);
    return [{ key: row.key, name: row.name, depth, resource, used: sum("used"), quota: resource === "" ? null : sum("nominal"), leaves }];
  });
}

// The root is above all queues, and says nothing of any.
function queuesAbove(): StageParent[] {
  return live.shown.all("Queue").filter((queue) => !queue.leaf && queue.parent !== "").map(({ key, name }) => {
    const [resource, used, quota] = usageOf(key);
    return { key, name, depth: name.split(".").length - 2, resource, used, quota, leaves: queues.columns.filter((column) => column.startsWith(`${key}.`)) };
  });
}

function queueNow(column: string): StageQueue {
  const lists = live.shown.columns.of(column);
  const cards = SECTIONS.filter((section) => section !== "finished").flatMap((section) => lists[section].filter((key) => !isOver(key)).map((key) => [section, cardOf(key)] as const));
  const [resource, used, quota] = usageOf(column);
  const titles = (of: ReadonlySet<string>): string => [...new Set(cards.flatMap(([section]) => (of.has(section) ? [sectionText(section, live.stack)] : [])))].join(", ");
  return {
    key: column,
    name: column.startsWith("namespace/") ? column.slice(10) : nameOf(column),
    colour: queueColour(queues.orderOf(column)),
    resource,
    used,
    quota,
    waiting: cards.filter(([section]) => !RUNS.has(section) && !OUT.has(section)).map(([, card]) => card),
    out: cards.filter(([section]) => OUT.has(section)).map(([, card]) => card),
    running: cards.filter(([section]) => RUNS.has(section)).map(([, card]) => card),
    runs: titles(RUNS),
    outs: titles(OUT),
  };
}

// An application whose pods have ended stays for a while, and runs nothing.
function isOver(key: string): boolean {
  const row = live.shown.row(key);
  return row?.kind === "Application" && row.state === "Completing";
}

function cardOf(key: string): StageCard {
  const row = live.shown.row(key);
  const face = row === undefined ? null : faceOf(row);
  return { key, name: face?.name ?? displayNameOf(key), request: face?.request ?? "", state: face?.state ?? "pending" };
}

function usageOf(column: string): readonly [string, number, number | null] {
  const queue = live.shown.get("ClusterQueue", column);
  if (queue !== undefined) {
    const sums = new Map<string, number>();
    for (const cell of queue.cells) sums.set(cell.resource, (sums.get(cell.resource) ?? 0) + amount(cell.nominal));
    const resource = mainResource(Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)])));
    const own = queue.cells.filter((cell) => cell.resource === resource);
    return [resource, own.reduce((sum, cell) => sum + amount(cell.used), 0), own.reduce((sum, cell) => sum + amount(cell.nominal), 0)];
  }
  const tree = live.shown.get("Queue", column);
  if (tree === undefined) return ["", 0, null];
  const limits = Object.keys(tree.guaranteed).length > 0 ? tree.guaranteed : tree.max;
  const resource = mainResource(limits);
  return limits[resource] === undefined ? ["", 0, null] : [resource, amount(tree.allocated[resource]), amount(limits[resource])];
}
