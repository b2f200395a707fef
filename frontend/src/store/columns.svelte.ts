// The board's columns: which cards stand where, kept up to date by changed rows alone.

import { SvelteMap } from "svelte/reactivity";

import type { AnyRow } from "@/protocol/wire";
import {
  compareRanks,
  placeOf,
  sameRank,
  SECTIONS,
  type Place,
  type Section,
  type Stack,
} from "@/store/places";

export type Lists = Readonly<Record<Section, readonly string[]>>;

const NONE: Lists = {
  pending: [],
  inadmissible: [],
  inactive: [],
  reserved: [],
  admitted: [],
  finished: [],
};

/** One column: lists of card keys, replaced only when they change. */
export class Column {
  lists = $state.raw<Lists>(NONE);
}

/** All columns of one page. */
export class Columns {
  readonly #columns = new SvelteMap<string, Column>();
  readonly #places = new Map<string, Place>();
  readonly #members = new Map<string, Map<string, Place>>();

  /** Return the column of a queue's key; empty while nothing stands in it. */
  of(column: string): Lists {
    return this.#columns.get(column)?.lists ?? NONE;
  }

  /** Return the keys of all columns that hold cards. */
  keys(): string[] {
    return [...this.#columns.keys()];
  }

  /** Return where a card stands now; not reactive. */
  place(key: string): Place | undefined {
    return this.#places.get(key);
  }

  /** Take in changed rows. O(changed + cards of the columns they stand in). */
  update(changed: readonly string[], row: (key: string) => AnyRow | undefined, stack: Stack): void {
    const dirty = new Set<string>();
    for (const key of changed) {
      const now = row(key);
      this.#move(key, now === undefined ? null : placeOf(now, stack), dirty);
    }
    for (const column of dirty) this.#relist(column);
  }

  #move(key: string, next: Place | null, dirty: Set<string>): void {
    const before = this.#places.get(key);
    if (before === undefined && next === null) return;
    if (before !== undefined && next !== null && unmoved(before, next)) return;
    if (before !== undefined) {
      this.#members.get(before.column)?.delete(key);
      this.#places.delete(key);
      dirty.add(before.column);
    }
    if (next === null) return;
    this.#places.set(key, next);
    this.#membersOf(next.column).set(key, next);
    dirty.add(next.column);
  }

  #membersOf(column: string): Map<string, Place> {
    const there = this.#members.get(column) ?? new Map<string, Place>();
    this.#members.set(column, there);
    return there;
  }

  #relist(name: string): void {
    const lists = listed(this.#membersOf(name));
    const column = this.#columns.get(name) ?? new Column();
    column.lists = keepSame(column.lists, lists);
    if (!this.#columns.has(name)) this.#columns.set(name, column);
  }
}

function unmoved(before: Place, next: Place): boolean {
  return (
    before.column === next.column &&
    before.section === next.section &&
    sameRank(before.rank, next.rank)
  );
}

function listed(members: ReadonlyMap<string, Place>): Lists {
  const entries = [...members].sort(([, a], [, b]) => compareRanks(a.rank, b.rank));
  const lists: Record<Section, string[]> = {
    pending: [],
    inadmissible: [],
    inactive: [],
    reserved: [],
    admitted: [],
    finished: [],
  };
  for (const [key, place] of entries) lists[place.section].push(key);
  return lists;
}

// A list that did not change keeps its identity, so its cards are not visited.
function keepSame(before: Lists, after: Lists): Lists {
  const next = { ...after };
  for (const section of SECTIONS) {
    const [old, now] = [before[section], after[section]];
    const same = old.length === now.length && now.every((key, at) => key === old[at]);
    if (same) next[section] = old;
  }
  return next;
}
