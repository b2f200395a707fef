// The rows of one page as reactive signals: a view that reads a row is updated by that row alone.

import { untrack } from "svelte";

import { dependsOn } from "@/lib/depends";
import type { AnyRow, EventLine, SandboxRow, Sample } from "@/protocol/types";
import type { RowKind } from "@/protocol/rows";
import { Columns } from "@/store/rows/columns.svelte";
import type { Stack } from "@/store/rows/cardPositions";
import { changedKeys, EMPTY_PAGE, sandboxOf, type Page } from "@/store/rows/page";
import { KindSignal, Signal } from "@/store/rows/signals.svelte";
import { WaitingAsks } from "@/store/rows/waitingAsks.svelte";

type RowOf<K extends RowKind> = Extract<AnyRow, { kind: K }>;

// "gpu-9" before "gpu-10": the order of rows is that of their names, however they came here.
const names = new Intl.Collator("en", { numeric: true });
export const byName = (a: string, b: string): number => names.compare(a, b) || (a < b ? -1 : 1);

/** One page of rows for the views to read.
 *
 * What it shows is a function of the page alone: the same rows give the same keys,
 * columns and ranks, by whatever diffs they came.
 */
export class RowStore {
  page = $state.raw<Page>(EMPTY_PAGE);
  samples = $state.raw<readonly Sample[]>([]);
  events = $state.raw<readonly EventLine[]>([]);
  /** What cards and charts ask of the sandbox, apart from its row: that one changes at every tick. */
  stack = $state<Stack>("kueue");
  fairSharing = $state(false);
  source = $state<SandboxRow["source"]>("simulated");
  tickMs = $state(1000);
  #rows: Page["rows"] = EMPTY_PAGE.rows; // of the page, without depending on it
  readonly columns = new Columns();
  readonly asks = new WaitingAsks();
  readonly #signals = new Map<string, Signal<AnyRow | undefined>>();
  // All at once: a list made while it is being read would not be reactive.
  readonly #kinds: Readonly<Record<RowKind, KindSignal>> = {
    Sandbox: new KindSignal(),
    Cohort: new KindSignal(),
    ClusterQueue: new KindSignal(),
    LocalQueue: new KindSignal(),
    ResourceFlavor: new KindSignal(),
    MultiKueueCluster: new KindSignal(),
    Workload: new KindSignal(),
    Node: new KindSignal(),
    Pod: new KindSignal(),
    Queue: new KindSignal(),
    Application: new KindSignal(),
    Policy: new KindSignal(),
  };
  #fresh: ReadonlySet<string> = new Set(); // keys whose state has just changed
  #missed = $state(0); // counts rows that came in, for those who looked too early

  constructor(page?: Page) {
    if (page !== undefined) this.show(page);
  }

  /** Return a row by key, or undefined; reactive to that row. */
  row(key: string): AnyRow | undefined {
    const signal = this.#signals.get(key);
    if (signal === undefined) {
      dependsOn(this.#missed);
      return undefined;
    }
    return signal.value;
  }

  /** Return a row of one kind by key, or undefined. */
  get<K extends RowKind>(kind: K, key: string): RowOf<K> | undefined {
    const row = this.row(key);
    return row?.kind === kind ? (row as RowOf<K>) : undefined;
  }

  /** Return whether the state of a row has just changed; reactive to that row. */
  isFresh(key: string): boolean {
    this.#signals.get(key)?.observe();
    return this.#fresh.has(key);
  }

  /** Say whose state has just changed; of all others it has not. O(both). */
  markFresh(keys: ReadonlySet<string>): void {
    const before = this.#fresh;
    this.#fresh = keys;
    for (const key of [...before, ...keys]) this.#signals.get(key)?.changed();
  }

  /** Return the keys of a kind, by name; reactive to membership only. */
  keys(kind: RowKind): readonly string[] {
    return this.#kinds[kind].keys;
  }

  /** Return all rows of a kind, by name; reactive to the kind. For kinds of at most thousands. */
  all<K extends RowKind>(kind: K): RowOf<K>[] {
    this.#kinds[kind].observe();
    return this.#found(kind, this.keys(kind));
  }

  /** Return all rows of a kind in no order; reactive to the kind. For sums over thousands of rows. */
  sweep<K extends RowKind>(kind: K): RowOf<K>[] {
    const keys = this.keys(kind);
    // Few among many are fetched by key; most of all rows are found faster in one pass.
    if (keys.length * 4 < this.#rows.size) return this.all(kind);
    this.#kinds[kind].observe();
    const found: RowOf<K>[] = [];
    for (const row of this.#rows.values()) if (row.kind === kind) found.push(row as RowOf<K>);
    return found;
  }

  #found<K extends RowKind>(kind: K, keys: readonly string[]): RowOf<K>[] {
    const found: RowOf<K>[] = [];
    for (const key of keys) {
      const row = this.#rows.get(key);
      if (row?.kind === kind) found.push(row as RowOf<K>);
    }
    return found;
  }

  get sandbox(): SandboxRow | undefined {
    const key = this.keys("Sandbox")[0];
    return key === undefined ? undefined : this.get("Sandbox", key);
  }

  /** Show another page; only views of what differs are updated. */
  show(page: Page, changed: readonly string[] = changedKeys(this.page, page)): void {
    const [moved, touched] = [new Set<RowKind>(), new Set<RowKind>()];
    this.#rows = page.rows;
    for (const key of changed) this.#put(key, page.rows.get(key), moved, touched);
    for (const kind of moved) this.#relist(kind);
    for (const kind of touched) this.#kinds[kind].changed();
    [this.page, this.samples, this.events] = [page, page.samples, page.events];
    const before = untrack(() => this.stack);
    this.#takeFacts(sandboxOf(page));
    const stack = untrack(() => this.stack);
    // Where a card stands depends on the stack: with another one, every row is placed anew.
    const placed = stack === before ? changed : [...new Set([...changed, ...page.rows.keys()])];
    this.columns.update(placed, (key) => page.rows.get(key), stack);
    this.asks.update(changed, (key) => page.rows.get(key));
  }

  #takeFacts(sandbox: SandboxRow | undefined): void {
    this.stack = sandbox?.stack ?? "kueue";
    this.fairSharing = sandbox?.fairSharing ?? false;
    this.source = sandbox?.source ?? "simulated";
    this.tickMs = sandbox?.tickMs ?? 1000;
  }

  #put(key: string, row: AnyRow | undefined, moved: Set<RowKind>, touched: Set<RowKind>): void {
    const signal = this.#signals.get(key);
    const known = row ?? signal?.peek;
    if (known === undefined || row === signal?.peek) return;
    touched.add(known.kind);
    if (row === undefined || signal === undefined) moved.add(known.kind);
    if (row === undefined) this.#signals.delete(key);
    if (signal !== undefined) signal.value = row;
    else this.#signals.set(key, new Signal<AnyRow | undefined>(row));
  }

  #relist(kind: RowKind): void {
    const keys: string[] = [];
    for (const [key, signal] of this.#signals) if (signal.peek?.kind === kind) keys.push(key);
    this.#kinds[kind].keys = keys.sort(byName);
    this.#missed++;
  }
}

