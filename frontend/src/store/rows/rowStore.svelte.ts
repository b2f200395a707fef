// The rows of one page as reactive cells: a view that reads a row is updated by that row alone.

import { untrack } from "svelte";

import { dependsOn } from "@/lib/depends";
import type { AnyRow, EventLine, SandboxRow, Sample } from "@/protocol/types";
import type { RowKind } from "@/protocol/rows";
import { Columns } from "@/store/rows/columns.svelte";
import type { Stack } from "@/store/rows/cardPositions";
import { changedKeys, EMPTY_PAGE, type Page } from "@/store/rows/page";
import { WaitingAsks } from "@/store/rows/waitingAsks.svelte";

type RowOf<K extends RowKind> = Extract<AnyRow, { kind: K }>;

// A row that no view has read yet changes without notifying anything: most rows are off screen.
class RowSignal {
  #row: AnyRow | null = null;
  #observed = false;
  #version = $state(0);

  get row(): AnyRow | null {
    this.#observed = true;
    dependsOn(this.#version);
    return this.#row;
  }
  set row(next: AnyRow | null) {
    if (next === this.#row) return;
    this.#row = next;
    if (this.#observed) this.#version = untrack(() => this.#version) + 1;
  }
  /** The row, without depending on it. */
  get peek(): AnyRow | null {
    return this.#row;
  }
}

class KeyList {
  keys = $state.raw<readonly string[]>([]); // replaced when membership changes
}

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
  readonly columns = new Columns();
  readonly asks = new WaitingAsks();
  readonly #cells = new Map<string, RowSignal>();
  // All at once: a list made while it is being read would not be reactive.
  readonly #keyLists: Readonly<Record<RowKind, KeyList>> = {
    Sandbox: new KeyList(),
    Cohort: new KeyList(),
    ClusterQueue: new KeyList(),
    LocalQueue: new KeyList(),
    ResourceFlavor: new KeyList(),
    MultiKueueCluster: new KeyList(),
    Workload: new KeyList(),
    Node: new KeyList(),
    Pod: new KeyList(),
    Queue: new KeyList(),
    Application: new KeyList(),
    Policy: new KeyList(),
  };
  #stack: Stack = "kueue";
  #missed = $state(0); // counts rows that came in, for those who looked too early

  constructor(page?: Page) {
    if (page !== undefined) this.show(page);
  }

  /** Return a row by key, or undefined; reactive to that row. */
  row(key: string): AnyRow | undefined {
    const cell = this.#cells.get(key);
    if (cell === undefined) {
      dependsOn(this.#missed);
      return undefined;
    }
    return cell.row ?? undefined;
  }

  /** Return a row of one kind by key, or undefined. */
  get<K extends RowKind>(kind: K, key: string): RowOf<K> | undefined {
    const row = this.row(key);
    return row?.kind === kind ? (row as RowOf<K>) : undefined;
  }

  /** Return the keys of a kind, by name; reactive to membership only. */
  keys(kind: RowKind): readonly string[] {
    return this.#keyLists[kind].keys;
  }

  /** Return all rows of a kind; reactive to each. For kinds of at most thousands. */
  all<K extends RowKind>(kind: K): RowOf<K>[] {
    const rows = this.keys(kind).map((key) => this.get(kind, key));
    return rows.filter((row): row is RowOf<K> => row !== undefined);
  }

  /** Return all rows of a kind as of this page; for sums over thousands of rows.
   *
   * Reactive to the page as a whole, so it costs one pass a diff and no bookkeeping.
   */
  sweep<K extends RowKind>(kind: K): RowOf<K>[] {
    const { rows } = this.page;
    const found: RowOf<K>[] = [];
    // Few among many are fetched by key; most of all rows are found faster in one pass.
    if (this.keys(kind).length * 4 < rows.size) {
      for (const key of this.keys(kind)) {
        const row = rows.get(key);
        if (row?.kind === kind) found.push(row as RowOf<K>);
      }
      return found;
    }
    for (const row of rows.values()) if (row.kind === kind) found.push(row as RowOf<K>);
    return found;
  }

  get sandbox(): SandboxRow | undefined {
    const key = this.keys("Sandbox")[0];
    return key === undefined ? undefined : this.get("Sandbox", key);
  }
  get samples(): readonly Sample[] {
    return this.page.samples;
  }
  get events(): readonly EventLine[] {
    return this.page.events;
  }

  /** Show another page; only views of what differs are updated. */
  show(page: Page, changed: readonly string[] = changedKeys(this.page, page)): void {
    const moved = new Set<RowKind>();
    for (const key of changed) this.#put(key, page.rows.get(key), moved);
    for (const kind of moved) this.#relist(kind);
    this.page = page;
    const stack = untrack(() => this.sandbox?.stack) ?? "kueue";
    // Where a card stands depends on the stack: with another one, every row is placed anew.
    const placed = stack === this.#stack ? changed : [...new Set([...changed, ...page.rows.keys()])];
    this.#stack = stack;
    this.columns.update(placed, (key) => page.rows.get(key), stack);
    this.asks.update(changed, (key) => page.rows.get(key));
  }

  #put(key: string, row: AnyRow | undefined, moved: Set<RowKind>): void {
    const cell = this.#cells.get(key);
    if (row === undefined) {
      if (cell?.peek) moved.add(cell.peek.kind);
      if (cell !== undefined) cell.row = null;
      this.#cells.delete(key);
    } else if (cell === undefined) {
      const fresh = new RowSignal();
      fresh.row = row;
      this.#cells.set(key, fresh);
      moved.add(row.kind);
    } else {
      cell.row = row;
    }
  }

  #relist(kind: RowKind): void {
    const keys: string[] = [];
    for (const [key, cell] of this.#cells) if (cell.peek?.kind === kind) keys.push(key);
    this.#keyLists[kind].keys = keys.sort(byName);
    this.#missed++;
  }
}

