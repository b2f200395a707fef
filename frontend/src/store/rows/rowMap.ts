// Rows by key in versions: a change costs what it changes, and versions before it stay what they were.

import type { AnyRow } from "@/protocol/types";

type Changes = Map<string, AnyRow | undefined>;

/** The rows of one page. The newest version holds them all; an older one knows what it has otherwise. */
export class RowMap implements ReadonlyMap<string, AnyRow> {
  #all: Map<string, AnyRow> | null;
  #otherwise: Changes = new Map();
  #newer: RowMap | null = null;

  constructor(all: Map<string, AnyRow>) {
    this.#all = all;
  }

  /** Return the rows after changes; undefined takes a row out. O(changes) of the newest version, else O(rows).
   *
   * The changes are taken over: from then on they are what this version has otherwise.
   */
  with(changes: Changes): RowMap {
    const all = this.#whole();
    for (const [key, row] of changes) {
      changes.set(key, all.get(key));
      if (row === undefined) all.delete(key);
      else all.set(key, row);
    }
    const next = new RowMap(all);
    [this.#all, this.#otherwise, this.#newer] = [null, changes, next];
    return next;
  }

  get(key: string): AnyRow | undefined {
    if (this.#all !== null) return this.#all.get(key);
    if (this.#otherwise.has(key)) return this.#otherwise.get(key);
    for (let version = this.#newer; version !== null; version = version.#newer) {
      if (version.#all !== null) return version.#all.get(key);
      if (version.#otherwise.has(key)) return version.#otherwise.get(key);
    }
    return undefined;
  }

  /** This version and those made of it, the newest last. */
  #versions(): RowMap[] {
    const found: RowMap[] = [this];
    for (let next = this.#newer; next !== null; next = next.#newer) found.push(next);
    return found;
  }

  // A version that is read as a whole after a newer one was made gets rows of its own.
  #whole(): Map<string, AnyRow> {
    if (this.#all !== null) return this.#all;
    const versions = this.#versions();
    const newest = versions.at(-1) ?? this;
    const rows = new Map(newest.#all);
    for (const [key, row] of versions.reverse().flatMap((version) => [...version.#otherwise])) {
      if (row === undefined) rows.delete(key);
      else rows.set(key, row);
    }
    [this.#all, this.#otherwise, this.#newer] = [rows, new Map<string, AnyRow | undefined>(), null];
    return rows;
  }

  get size(): number {
    return this.#whole().size;
  }
  has(key: string): boolean {
    return this.get(key) !== undefined;
  }
  keys(): MapIterator<string> {
    return this.#whole().keys();
  }
  values(): MapIterator<AnyRow> {
    return this.#whole().values();
  }
  entries(): MapIterator<[string, AnyRow]> {
    return this.#whole().entries();
  }
  [Symbol.iterator](): MapIterator<[string, AnyRow]> {
    return this.entries();
  }
  forEach(look: (row: AnyRow, key: string, rows: ReadonlyMap<string, AnyRow>) => void): void {
    for (const [key, row] of this) look(row, key, this);
  }
}
