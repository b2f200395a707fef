// Nodes in pools, and what is free on them but fits nobody; pure.

import { amount, asks, bare, orderResources, quantity, type Amounts } from "@/lib/amounts";
import type { NodeRow, PodRow } from "@/protocol/types";
import { clusterOf } from "@/store/rows/clusters";

export interface Pool {
  readonly name: string; // the flavor, or the shape where there is none
  readonly resource: string; // the one that says most about these nodes
  readonly largest: number; // of that resource, on one node
  readonly nodes: readonly NodeRow[];
}

/** What requests resources: some pods of one size each. */
export interface Sized {
  readonly podSets: readonly { readonly count: number; readonly requests: Amounts }[];
}

/** Return a pod as such a request. */
export function sizedPod(pod: PodRow): Sized {
  return { podSets: [{ count: 1, requests: pod.requests }] };
}

export interface Stranded {
  readonly resource: string;
  readonly free: number;
  readonly usable: number; // what pods of the asked size could take of it
  readonly freeText: string;
  readonly usableText: string;
  readonly askText: string;
}

/** Return nodes grouped by flavor, else by worker cluster, in the order of their names. O(nodes) while no name is new. */
export function poolsOf(nodes: readonly NodeRow[]): Pool[] {
  const groups = new Map<string, NodeRow[]>();
  for (const node of inOrder(nodes)) {
    const pool = node.flavor || clusterOf(node.name);
    const members = groups.get(pool);
    if (members === undefined) groups.set(pool, [node]);
    else members.push(node);
  }
  return [...groups].map(([name, members]) => {
    const resource = dominantOf(members);
    const largest = members.reduce((most, node) => Math.max(most, amount(node.allocatable[resource])), 0);
    return { name, resource, largest, nodes: members };
  });
}

const NUMERIC = new Intl.Collator("en", { numeric: true });
let ranked: ReadonlyMap<string, number> = new Map();

// Comparing names as people count is slow; the order is made again for new names only.
function inOrder(nodes: readonly NodeRow[]): NodeRow[] {
  if (!nodes.every((node) => ranked.has(node.name))) {
    const names = nodes.map((node) => node.name).sort((a, b) => NUMERIC.compare(a, b));
    ranked = new Map(names.map((name, at) => [name, at]));
  }
  const slots = new Array<NodeRow | undefined>(ranked.size);
  for (const node of nodes) slots[ranked.get(node.name) ?? 0] = node;
  return slots.filter((node) => node !== undefined);
}

function dominantOf(nodes: readonly NodeRow[]): string {
  const there = new Set<string>();
  for (const node of nodes) {
    for (const name in node.allocatable) if (node.allocatable[name] !== "0") there.add(name);
  }
  const names = orderResources(there);
  const device = names.find((name) => name.includes("/"));
  return device ?? (names.includes("cpu") ? "cpu" : (names[0] ?? "cpu"));
}

const largest = new WeakMap<Sized["podSets"], Map<string, number>>();

// Pod sets that did not change were looked through before.
function largestAsk(waiting: Iterable<Sized>, resource: string): number {
  let asked = 0;
  for (const { podSets } of waiting) {
    let known = largest.get(podSets);
    if (known === undefined) largest.set(podSets, (known = new Map<string, number>()));
    let most = known.get(resource);
    if (most === undefined) {
      most = podSets.reduce((size, set) => Math.max(size, amount(set.requests[resource])), 0);
      known.set(resource, most);
    }
    if (most > asked) asked = most;
  }
  return asked;
}

/** Return what is free in the scarcest pool and how much of it the next pod could use. */
export function strandedOf(pools: readonly Pool[], waiting: Iterable<Sized>): Stranded | null {
  const pool = pools.find((candidate) => candidate.resource.includes("/")) ?? pools[0];
  if (pool === undefined) return null;
  const { resource } = pool;
  const asked = largestAsk(waiting, resource);
  const pieces = freePieces(pools, resource);
  const free = pieces.reduce((sum, piece) => sum + piece, 0);
  if (asked === 0 || free === 0) return null;
  const usable = usableOf(pieces, asked);
  return {
    resource,
    free,
    usable,
    freeText: quantity(resource, free),
    usableText: bare(resource, usable),
    askText: asks(1, { [resource]: String(asked) }, resource),
  };
}

/** Return what is free of a resource on each ready node, largest first. */
export function freePieces(pools: readonly Pool[], resource: string): number[] {
  return pools
    .flatMap((pool) => pool.nodes)
    .filter((node) => node.state === "ready")
    .map((node) => amount(node.allocatable[resource]) - amount(node.used[resource]))
    .filter((piece) => piece > 0)
    .sort((a, b) => b - a);
}

/** Return how much of the pieces whole pods of one size could take. */
export function usableOf(pieces: readonly number[], size: number): number {
  return pieces.reduce((sum, piece) => sum + Math.floor(piece / size) * size, 0);
}

/** Return how full a node is in the resource it is fullest in, 0 to 1 and above. */
export function dominantLoad(node: NodeRow): number {
  const loads = Object.entries(node.allocatable)
    .filter(([name, all]) => name !== "pods" && amount(all) > 0)
    .map(([name, all]) => amount(node.used[name]) / amount(all));
  return Math.max(0, ...loads);
}

export interface Ask {
  readonly size: number;
  readonly pods: number;
}

/** Return the sizes of pod that wait for a resource, smallest first. */
export function waitingSizes(waiting: readonly Sized[], resource: string): Ask[] {
  const sizes = new Map<number, number>();
  for (const set of waiting.flatMap((row) => row.podSets)) {
    const size = amount(set.requests[resource]);
    if (size > 0) sizes.set(size, (sizes.get(size) ?? 0) + set.count);
  }
  return [...sizes].map(([size, pods]) => ({ size, pods })).sort((a, b) => a.size - b.size);
}
