// The plug-in x node table of a pod, and a YuniKorn ask's way to a node.

import { ask } from "@/net/rest";
import { live } from "@/store/live/live.svelte";
import type { AskExplanation, NodeRowRecord, PodExplanation } from "@/protocol/types";

/** Where a pod could go: as kube-scheduler scores nodes, or as YuniKorn walks its queues. */
export type NodeTable = PodExplanation | AskExplanation;

/** Ask where a pod could go, now or at a tick of the past. */
export function fetchNodeTable(
  sandbox: string,
  key: string,
  tick: number | null,
  signal: AbortSignal,
): Promise<NodeTable> {
  const [, namespace = "", name = ""] = key.split("/");
  const path = `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
  const asked = { query: { kind: "Pod", tick }, signal };
  return ask(live.stack === "yunikorn" ? "AskExplanation" : "PodExplanation", "GET", path, asked);
}

/** A refusal that several nodes share. */
export interface Refused {
  readonly nodes: readonly string[];
  readonly plugin: string;
  readonly reason: string;
}

/** Return the filtered nodes, those refused alike as one. */
export function refusedAlike(nodes: readonly NodeRowRecord[]): Refused[] {
  const groups = new Map<string, Refused>();
  for (const line of nodes.filter((one) => !one.fits)) {
    const reason = line.reasons.join("; ");
    const id = `${line.plugin} ${reason}`;
    const there = groups.get(id)?.nodes ?? [];
    groups.set(id, { nodes: [...there, line.node], plugin: line.plugin, reason });
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}
