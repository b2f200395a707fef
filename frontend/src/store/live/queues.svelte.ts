// The queues of the page that is shown: order, colours, tree; shared by all views.

import type { ClusterQueueRow, PodRow, WorkloadRow } from "@/protocol/types";
import { sameList } from "@/lib/same";
import { live } from "@/store/live/live.svelte";
import { pairsOf, treeOf, type Branch } from "@/store/rows/quota";
import { busiestPairs, isContended, mainPairOf } from "@/store/rows/quotaMap";
import { byName, type RowStore } from "@/store/rows/rowStore.svelte";

interface Chosen {
  readonly pairs: readonly string[];
  readonly main: string;
  readonly kept: string; // for which sandbox and pairs; "" while it may change
}

class Queues {
  readonly tree: Branch[] = $derived(
    treeOf(live.shown.all("Cohort"), live.shown.all("ClusterQueue")),
  );
  readonly leaves: ClusterQueueRow[] = $derived(
    this.tree.flatMap(({ row }) => (row.kind === "ClusterQueue" ? [row] : [])),
  );
  /** Keys of the columns, in the order in which they stand. */
  readonly columns: readonly string[] = $derived.by(() => (this.#before = sameList(this.#before, columnsOf(this.leaves))));
  // Columns that change places while a run plays cannot be read: once quota is contended the choice is kept.
  readonly #chosen: Chosen = $derived.by(() => (this.#chosenBefore = this.#choose()));
  #chosenBefore: Chosen = { pairs: [], main: "", kept: "" };
  /** A pair for each resource, the most contended one. */
  readonly pairs: readonly string[] = $derived(this.#chosen.pairs);
  /** The most contended pair of all, for the map. */
  readonly mainPair: string = $derived(this.#chosen.main);
  #before: readonly string[] = []; // a tick that only changes numbers ends at the same list
  // By name, of the queues that are now and those of the tick looked at: a queue keeps its
  // colour after a reload, in a fork and at every tick.
  readonly #order: ReadonlyMap<string, number> = $derived.by(() => this.#sameOrder(sortedKeys([...queuesOf(live.latest), ...queuesOf(live.shown)])));
  #orderBefore: ReadonlyMap<string, number> = new Map();

  // Every swatch asks for its place: as long as the queues are the same, nothing of it changes.
  #sameOrder(keys: readonly string[]): ReadonlyMap<string, number> {
    const before = this.#orderBefore;
    const same = keys.length === before.size && keys.every((key, index) => before.get(key) === index);
    if (!same) this.#orderBefore = new Map(keys.map((key, index) => [key, index]));
    return this.#orderBefore;
  }

  #choose(): Chosen {
    const [before, all] = [this.#chosenBefore, `${live.latest.sandbox?.id ?? ""} ${pairsOf(this.leaves).join()}`];
    if (all === before.kept) return before;
    const pairs = sameList(before.pairs, busiestPairs(this.leaves));
    return { pairs, main: mainPairOf(this.leaves, pairs), kept: isContended(this.leaves) ? all : "" };
  }

  /** Return the place of a queue among all by name, for its colour; -1 when unknown. */
  orderOf(key: string): number {
    return this.#order.get(key) ?? -1;
  }

  /** Return the column of a pod's queue, whose colour it wears. */
  ofPod(pod: PodRow): string {
    if (live.stack === "kueue") return `ClusterQueue//${pod.queue}`;
    return live.stack === "yunikorn" ? `Queue//${pod.queue}` : `namespace/${pod.namespace}`;
  }
}

function queuesOf(store: RowStore): readonly string[] {
  const { stack } = store;
  if (stack === "kueue") return store.keys("ClusterQueue");
  if (stack === "kube") return store.columns.keys().filter((key) => key.startsWith("namespace/"));
  return store.all("Queue").filter((queue) => queue.leaf).map((queue) => queue.key);
}

function sortedKeys(keys: readonly string[]): string[] {
  return [...new Set(keys)].sort(byName);
}

function columnsOf(leaves: readonly ClusterQueueRow[]): string[] {
  const known = new Set(leaves.map((row) => row.key));
  const { stack } = live;
  if (stack === "yunikorn") {
    return live.shown.all("Queue").filter((queue) => queue.leaf).map((queue) => queue.key);
  }
  if (stack === "kube") {
    return live.shown.columns.keys().filter((key) => key.startsWith("namespace/")).sort();
  }
  const stray = live.shown.columns.keys().filter((key) => !known.has(key));
  return [...leaves.map((row) => row.key), ...stray];
}

export const queues = new Queues();

/** Return the ClusterQueue that a workload waits in; undefined where there is none of its name. Reactive. */
export function queueOf(row: WorkloadRow): ClusterQueueRow | undefined {
  return live.shown.get("ClusterQueue", `ClusterQueue//${row.clusterQueue}`);
}
