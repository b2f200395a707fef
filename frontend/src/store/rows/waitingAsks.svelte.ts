// The largest pod that waits, for each resource: kept up to date by changed rows alone.

import { SvelteMap } from "svelte/reactivity";

import { amount } from "@/lib/amounts";
import type { AnyRow } from "@/protocol/types";
import type { Sized } from "@/store/rows/pools";
import { waitsForPods } from "@/store/rows/workloadTable";

type PodSets = Sized["podSets"];

/** What the pods of waiting Workloads request. */
export class WaitingAsks {
  readonly #largest = new SvelteMap<string, number>();
  readonly #counted = new Map<string, PodSets>(); // by key of the Workload
  readonly #sizes = new Map<string, Map<number, number>>(); // resource -> size -> pod sets

  /** Return the largest request of one pod, 0 when none waits. Reactive to that. */
  largest(resource: string): number {
    return this.#largest.get(resource) ?? 0;
  }

  /** Take in changed rows. O(changed + sizes that differ). */
  update(changed: readonly string[], row: (key: string) => AnyRow | undefined): void {
    const moved = new Set<string>();
    for (const key of changed) {
      const now = row(key);
      const next = now !== undefined && waitsForPods(now) ? now.podSets : undefined;
      const before = this.#counted.get(key);
      if (before === next) continue;
      if (before !== undefined) this.#count(before, -1, moved);
      if (next === undefined) this.#counted.delete(key);
      else {
        this.#counted.set(key, next);
        this.#count(next, 1, moved);
      }
    }
    for (const resource of moved) this.#largest.set(resource, Math.max(0, ...(this.#sizes.get(resource)?.keys() ?? [])));
  }

  #count(podSets: PodSets, by: number, moved: Set<string>): void {
    for (const { requests } of podSets) {
      for (const [resource, text] of Object.entries(requests)) {
        const sizes = this.#sizes.get(resource) ?? new Map<number, number>();
        this.#sizes.set(resource, sizes);
        const size = amount(text);
        const sets = (sizes.get(size) ?? 0) + by;
        if (sets === 0) sizes.delete(size);
        else sizes.set(size, sets);
        moved.add(resource);
      }
    }
  }
}
