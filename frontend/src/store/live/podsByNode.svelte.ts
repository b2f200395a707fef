// Which pods are on which node, and which have none; kept from the rows shown.

import type { PodRow } from "@/protocol/types";
import { live } from "@/store/live/live.svelte";

const NONE: readonly PodRow[] = [];
const ENDED: readonly PodRow["phase"][] = ["succeeded", "failed"];

class PodsByNode {
  readonly #groups: ReadonlyMap<string, readonly PodRow[]> = $derived(
    grouped(live.shown.sweep("Pod")),
  );

  /** Return the pods that hold resources of a node, bound or assumed there, by queue. */
  of(node: string): readonly PodRow[] {
    return this.#groups.get(node) ?? NONE;
  }

  /** Return the pods that have no node and are assumed on none. */
  get waiting(): readonly PodRow[] {
    return this.#groups.get("") ?? NONE;
  }
}

function grouped(pods: readonly PodRow[]): Map<string, PodRow[]> {
  const groups = new Map<string, PodRow[]>();
  for (const pod of pods) {
    if (ENDED.includes(pod.phase)) continue;
    const at = pod.node || pod.heldOn;
    const there = groups.get(at);
    if (there === undefined) groups.set(at, [pod]);
    else there.push(pod);
  }
  for (const there of groups.values()) {
    there.sort((a, b) => a.queue.localeCompare(b.queue) || a.name.localeCompare(b.name));
  }
  return groups;
}

export const podsByNode = new PodsByNode();
