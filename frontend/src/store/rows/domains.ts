// Nodes as a tree of topology domains, and what is free in each; pure.

import { amount } from "@/lib/amounts";
import type { NodeRow } from "@/protocol/types";

export interface Domain {
  readonly path: readonly string[]; // the values of the labels, from the highest level down
  readonly free: number; // of the resource, on ready nodes
  readonly nodes: readonly NodeRow[];
  readonly inner: readonly Domain[]; // of the next level; none at the lowest
}

export interface Level {
  readonly label: string; // the label key of nodes
  readonly domains: number;
  readonly pieces: readonly { readonly size: number; readonly count: number }[]; // free, largest first
}

const HOST = "kubernetes.io/hostname";

/** Return the domains of the highest level, in the order of the nodes. O(nodes x levels).
 *
 * A node without a label of some level is in no domain, as Kueue leaves it out.
 */
export function domainsOf(nodes: readonly NodeRow[], levels: readonly string[], resource: string): Domain[] {
  const inside = nodes.filter((node) => levels.every((label) => node.labels[label] !== undefined));
  return grouped(inside, levels, resource, []);
}

/** Return the nodes that are in no domain. */
export function outside(nodes: readonly NodeRow[], levels: readonly string[]): NodeRow[] {
  return nodes.filter((node) => levels.some((label) => node.labels[label] === undefined));
}

function grouped(nodes: readonly NodeRow[], levels: readonly string[], resource: string, path: readonly string[]): Domain[] {
  const [label, ...lower] = levels;
  if (label === undefined) return [];
  const groups = new Map<string, NodeRow[]>();
  for (const node of nodes) {
    const value = node.labels[label] ?? "";
    groups.set(value, [...(groups.get(value) ?? []), node]);
  }
  return [...groups].map(([value, members]) => {
    const place = [...path, value];
    return { path: place, free: freeOf(members, resource), nodes: members, inner: grouped(members, lower, resource, place) };
  });
}

function freeOf(nodes: readonly NodeRow[], resource: string): number {
  const ready = nodes.filter((node) => node.state === "ready");
  return ready.reduce((sum, node) => sum + Math.max(0, amount(node.allocatable[resource]) - amount(node.used[resource])), 0);
}

/** Return the free pieces of each level, highest level first. */
export function piecesOf(domains: readonly Domain[], levels: readonly string[]): Level[] {
  let at = domains;
  return levels.map((label) => {
    const counts = new Map<number, number>();
    for (const { free } of at) if (free > 0) counts.set(free, (counts.get(free) ?? 0) + 1);
    const pieces = [...counts].map(([size, count]) => ({ size, count })).sort((a, b) => b.size - a.size);
    const level = { label, domains: at.length, pieces };
    at = at.flatMap((domain) => domain.inner);
    return level;
  });
}

/** Return the name that people use for a level: what follows the prefix of its label. */
export function levelName(label: string): string {
  return label === HOST ? "host" : (label.split("/").at(-1) ?? label);
}

/** Return whether a domain of the lowest level is one node: then its box shows it. */
export function isHost(label: string | undefined): boolean {
  return label === HOST;
}
