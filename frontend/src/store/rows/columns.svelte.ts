// The board's columns: which cards stand where, kept up to date by changed rows alone.

import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";

import { dependsOn } from "@/lib/depends";
import { sameList } from "@/lib/same";
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

/** One column. Its lists are joined when they are read: most columns are off screen. */
class Column {
  cards = 0;
  readonly #name: string;
  readonly #place: (key: string) => CardPosition | undefined;
  readonly #moved = new Map<Section, Set<string>>(); // what left or entered since the lists were joined
  #lists = NONE;
  #version = $state(0);

  constructor(name: string, place: (key: string) => CardPosition | undefined) {
    this.#name = name;
    this.#place = place;
  }

  /** What stands in each section; the same object until an order differs. */
  get lists(): Lists {
    dependsOn(this.#version);
    const lists: Record<Section, readonly string[]> = { ...this.#lists };
    for (const [section, moved] of this.#moved) lists[section] = this.#joined(section, moved);
    this.#moved.clear();
    if (SECTIONS.some((section) => lists[section] !== this.#lists[section])) this.#lists = lists;
    return this.#lists;
  }

  /** Remember that a card left or entered a section. */
  note(section: Section, key: string): void {
    const moved = this.#moved.get(section);
    if (moved === undefined) this.#moved.set(section, new Set([key]));
    else moved.add(key);
  }
  changed(): void {
    this.#version = untrack(() => this.#version) + 1;
  }

  // A list whose order came out the same keeps its identity: its cards are not visited.
  #joined(section: Section, moved: ReadonlySet<string>): readonly string[] {
    const before = this.#lists[section];
    const rest = before.filter((key) => !moved.has(key));
    const come = [...moved].filter((key) => this.#holds(section, key));
    if (come.length > FEW) rest.push(...come);
    if (come.length > FEW) rest.sort((a, b) => this.#compare(a, b));
    else for (const key of come) rest.splice(this.#rankIn(rest, key), 0, key);
    return sameList(before, rest);
  }

  #holds(section: Section, key: string): boolean {
    const place = this.#place(key);
    return place?.column === this.#name && place.section === section;
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
    return compareRanks(this.#place(a)?.rank ?? [], this.#place(b)?.rank ?? []) || (a < b ? -1 : a > b ? 1 : 0);
  }
}

/** All columns of one page. */
export class Columns {
  readonly #columns = new SvelteMap<string, Column>(); // those that hold cards
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

  /** Take in changed rows. O(changed); who reads a column joins what changed in it. */
  update(changed: readonly string[], row: (key: string) => AnyRow | undefined, stack: Stack): void {
    const touched = new Map<string, Column>();
    for (const key of changed) {
      const now = row(key);
      this.#move(key, now === undefined ? null : placeOf(now, stack), touched);
    }
    for (const [name, column] of touched) {
      column.changed();
      if (column.cards === 0) this.#columns.delete(name);
      else if (!this.#columns.has(name)) this.#columns.set(name, column);
    }
  }

  #move(key: string, next: CardPosition | null, touched: Map<string, Column>): void {
    const before = this.#places.get(key);
    if (before === undefined && next === null) return;
    if (before !== undefined && next !== null && unmoved(before, next)) return;
    if (before !== undefined) this.#note(key, before, -1, touched);
    if (next !== null) this.#note(key, next, 1, touched);
    if (next === null) this.#places.delete(key);
    else this.#places.set(key, next);
  }

  #note(key: string, { column: name, section }: CardPosition, by: number, touched: Map<string, Column>): void {
    const column = touched.get(name) ?? untrack(() => this.#columns.get(name)) ?? new Column(name, (card) => this.#places.get(card));
    touched.set(name, column);
    column.cards += by;
    column.note(section, key);
  }
}

function unmoved(before: CardPosition, next: CardPosition): boolean {
  return (
    before.column === next.column &&
    before.section === next.section &&
    sameRank(before.rank, next.rank)
  );
}
