// The board's columns: which cards stand where, kept up to date by changed rows alone.

import { SvelteMap } from "svelte/reactivity";

import type { AnyRow } from "@/protocol/types";
import {
  compareRanks,
  placeOf,
  sameRank,
  SECTIONS,
  type CardPosition,
  type Section,
  type Stack,
} from "@/store/rows/cardPositions";

const FEW = 24; // newcomers up to which each is put in its place, instead of a new sort

export type Lists = Readonly<Record<Section, readonly string[]>>;

const NONE: Lists = {
  waiting: [],
  failed: [],
  inactive: [],
  reserved: [],
  admitted: [],
  finished: [],
};

/** One column: lists of card keys, replaced only when they change. */
export class Column {
  lists = $state.raw<Lists>(NONE);
}

// What leaves and what enters one section; a card that only moves does both.
interface Change {
  readonly gone: Set<string>;
  readonly come: string[];
}
type Changes = Map<string, Map<Section, Change>>; // column -> section -> change

/** All columns of one page. */
export class Columns {
  readonly #columns = new SvelteMap<string, Column>();
  readonly #places = new Map<string, CardPosition>();

  /** Return the column of a queue's key; empty while nothing stands in it. */
  of(column: string): Lists {
    return this.#columns.get(column)?.lists ?? NONE;
  }

  /** Return the keys of all columns that hold cards, sorted. */
  keys(): string[] {
    return [...this.#columns.keys()].sort();
  }

  /** Return where a card stands now; not reactive. */
  place(key: string): CardPosition | undefined {
    return this.#places.get(key);
  }

  /** Take in changed rows. O(changed + cards of the sections they leave and enter). */
  update(changed: readonly string[], row: (key: string) => AnyRow | undefined, stack: Stack): void {
    const changes: Changes = new Map();
    for (const key of changed) {
      const now = row(key);
      this.#move(key, now === undefined ? null : placeOf(now, stack), changes);
    }
    for (const [column, sections] of changes) this.#relist(column, sections);
  }

  #move(key: string, next: CardPosition | null, changes: Changes): void {
    const before = this.#places.get(key);
    if (before === undefined && next === null) return;
    if (before !== undefined && next !== null && unmoved(before, next)) return;
    if (before !== undefined) changeOf(changes, before).gone.add(key);
    if (next === null) {
      this.#places.delete(key);
      return;
    }
    this.#places.set(key, next);
    changeOf(changes, next).come.push(key);
  }

  #relist(name: string, sections: ReadonlyMap<Section, Change>): void {
    const column = this.#columns.get(name) ?? new Column();
    const lists: Record<Section, readonly string[]> = { ...column.lists };
    for (const [section, change] of sections) lists[section] = this.#joined(lists[section], change);
    column.lists = lists;
    const empty = SECTIONS.every((section) => lists[section].length === 0);
    if (empty) this.#columns.delete(name);
    else if (!this.#columns.has(name)) this.#columns.set(name, column);
  }

  // A list whose order came out the same keeps its identity: its cards are not visited.
  #joined(before: readonly string[], { gone, come }: Change): readonly string[] {
    const rest = gone.size === 0 ? [...before] : before.filter((key) => !gone.has(key));
    if (come.length > FEW) rest.push(...come);
    if (come.length > FEW) rest.sort((a, b) => this.#compare(a, b));
    else for (const key of come) rest.splice(this.#rankIn(rest, key), 0, key);
    const same = rest.length === before.length && rest.every((key, at) => key === before[at]);
    return same ? before : rest;
  }

  // Where a key belongs in a sorted list, by halves.
  #rankIn(list: readonly string[], key: string): number {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(list[middle] ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(a: string, b: string): number {
    return compareRanks(this.#places.get(a)?.rank ?? [], this.#places.get(b)?.rank ?? []) || (a < b ? -1 : a > b ? 1 : 0);
  }
}

function changeOf(changes: Changes, place: CardPosition): Change {
  const sections = changes.get(place.column) ?? new Map<Section, Change>();
  changes.set(place.column, sections);
  const change = sections.get(place.section) ?? { gone: new Set<string>(), come: [] };
  sections.set(place.section, change);
  return change;
}

function unmoved(before: CardPosition, next: CardPosition): boolean {
  return (
    before.column === next.column &&
    before.section === next.section &&
    sameRank(before.rank, next.rank)
  );
}
