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
  readonly size: number; // of the largest pod that waits
  readonly resource: string;
  readonly free: number;
  readonly usable: number; // what pods of the asked size could take of it
  readonly freeText: string;
  readonly usableText: string;
  readonly askText: string;
}

/** A pool without what changes at every tick. */
export interface PoolShape extends Omit<Pool, "nodes"> {
  readonly keys: readonly string[]; // of its nodes
}

interface Layout {
  readonly nodes: readonly NodeRow[];
  readonly pools: readonly Pool[];
  readonly shapes: readonly PoolShape[];
}

let layout: Layout = { nodes: [], pools: [], shapes: [] };
let placeOf: ReadonlyMap<string, number> = new Map();

/** Return nodes grouped by flavor, else by worker cluster, in the order of their names. O(nodes).
 *
 * The order and what pools are called is worked out again only where a node came, went or has
 * another shape; else the nodes of before are replaced by those of now.
 */
export function poolsOf(nodes: readonly NodeRow[]): readonly Pool[] {
  lay(nodes);
  if (layout.nodes === nodes) return layout.pools;
  return layout.pools.map((pool) => ({ ...pool, nodes: pool.nodes.map((node) => nodes[placeOf.get(node.key) ?? 0] ?? node) }));
}

/** Return the pools of nodes, the same object until a node comes, goes or has another shape. O(nodes). */
export function poolShapes(nodes: readonly NodeRow[]): readonly PoolShape[] {
  lay(nodes);
  return layout.shapes;
}

function lay(nodes: readonly NodeRow[]): void {
  if (sameShapes(layout.nodes, nodes)) return;
  const pools = grouped(nodes);
  const shapes = pools.map(({ name, resource, largest, nodes: members }) => ({ name, resource, largest, keys: members.map((node) => node.key) }));
  layout = { nodes, pools, shapes };
  placeOf = new Map(nodes.map((node, at) => [node.key, at]));
}

function sameShapes(before: readonly NodeRow[], now: readonly NodeRow[]): boolean {
  if (before.length !== now.length) return false;
  return now.every((node, at) => {
    const old = before[at];
    return old === node || (old?.key === node.key && old.flavor === node.flavor && old.allocatable === node.allocatable);
  });
}

function grouped(nodes: readonly NodeRow[]): Pool[] {
  const groups = new Map<string, NodeRow[]>();
  for (const node of nodes.toSorted((a, b) => NUMERIC.compare(a.name, b.name))) {
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
function dominantOf(nodes: readonly NodeRow[]): string {
  const there = new Set<string>();
  for (const node of nodes) {
    for (const name in node.allocatable) if (node.allocatable[name] !== "0") there.add(name);
  }
  const names = orderResources(there);
  const device = names.find((name) => name.includes("/"));
  return device ?? (names.includes("cpu") ? "cpu" : (names[0] ?? "cpu"));
}

/** Return the largest request of a resource among pods. */
export function largestAsk(waiting: Iterable<Sized>, resource: string): number {
  let most = 0;
  for (const { podSets } of waiting) for (const set of podSets) most = Math.max(most, amount(set.requests[resource]));
  return most;
}

/** Return what is free of the scarcest pool's resource and how much of it the largest waiting pod could use. O(nodes). */
export function strandedOf(nodes: readonly NodeRow[], pools: readonly PoolShape[], largest: (resource: string) => number): Stranded | null {
  const pool = pools.find((candidate) => candidate.resource.includes("/")) ?? pools[0];
  if (pool === undefined) return null;
  const { resource } = pool;
  const asked = largest(resource);
  if (asked === 0) return null;
  let [free, usable] = [0, 0];
  for (const node of nodes) {
    const piece = pieceOf(node, resource);
    free += piece;
    usable += Math.floor(piece / asked) * asked;
  }
  if (free === 0) return null;
  return {
    resource,
    free,
    size: asked,
    usable,
    freeText: quantity(resource, free),
    usableText: bare(resource, usable),
    askText: asks(1, { [resource]: String(asked) }, resource),
  };
}

// What pods can still take of a node: nothing where it is not ready.
function pieceOf(node: NodeRow, resource: string): number {
  if (node.state !== "ready") return 0;
  return Math.max(0, amount(node.allocatable[resource]) - amount(node.used[resource]));
}

/** Return what is free of a resource on each ready node, largest first. */
export function freePieces(pools: readonly Pool[], resource: string): number[] {
  return pools
    .flatMap((pool) => pool.nodes)
    .map((node) => pieceOf(node, resource))
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
