// Which pods are on which node, and which have none; kept from the rows shown.

import type { PodRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

const NONE: readonly PodRow[] = [];
const ENDED: readonly PodRow["phase"][] = ["succeeded", "failed"];

class PodsByNode {
  readonly #groups: ReadonlyMap<string, readonly PodRow[]> = $derived(
    grouped(live.shown.sweep("Pod")),
  );

  /** Return the pods that hold resources of a node, largest queue first. */
  of(node: string): readonly PodRow[] {
    return this.#groups.get(node) ?? NONE;
  }

  /** Return the pods that have no node. */
  get waiting(): readonly PodRow[] {
    return this.#groups.get("") ?? NONE;
  }
}

function grouped(pods: readonly PodRow[]): Map<string, PodRow[]> {
  const groups = new Map<string, PodRow[]>();
  for (const pod of pods) {
    if (ENDED.includes(pod.phase)) continue;
    const there = groups.get(pod.node);
    if (there === undefined) groups.set(pod.node, [pod]);
    else there.push(pod);
  }
  for (const there of groups.values()) {
    there.sort((a, b) => a.queue.localeCompare(b.queue) || a.name.localeCompare(b.name));
  }
  return groups;
}

export const podsByNode = new PodsByNode();
