// What stands in a column from top to bottom: nothing is lost, and what did not change is the same object.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { SECTIONS, type Section } from "@/store/rows/cardPositions";
import type { Lists } from "@/store/rows/columns.svelte";
import { entriesOf, type Entry } from "@/views/board/entries";

const sizes = fc.record(Object.fromEntries(SECTIONS.map((name) => [name, fc.nat(8)])) as Record<Section, fc.Arbitrary<number>>);
const how = fc.record({ ranked: fc.boolean(), wide: fc.integer({ min: 0, max: 3 }), compact: fc.boolean() });
const NONE: ReadonlyMap<string, Entry> = new Map();

function listsOf(counts: Readonly<Record<Section, number>>): Lists {
  return Object.fromEntries(SECTIONS.map((name) => [name, Array.from({ length: counts[name] }, (_, at) => `${name}-${at}`)])) as unknown as Lists;
}

describe("the entries of a column", () => {
  it("are the same whatever was drawn before", () => {
    fc.assert(
      fc.property(sizes, sizes, sizes, sizes, how, how, (before, now, shown, shownNow, drawing, drawingNow) => {
        const earlier = entriesOf(listsOf(before), shown, drawing, NONE);
        const lists = listsOf(now);
        const afresh = entriesOf(lists, shownNow, drawingNow, NONE);
        expect([...entriesOf(lists, shownNow, drawingNow, earlier)]).toEqual([...afresh]);
      }),
    );
  });

  it("are the same objects when nothing changed", () => {
    fc.assert(
      fc.property(sizes, sizes, how, (counts, shown, drawing) => {
        const before = entriesOf(listsOf(counts), shown, drawing, NONE);
        const after = entriesOf(listsOf(counts), shown, drawing, before);
        expect([...after.values()].every((entry) => before.get(entry.id) === entry)).toBe(true);
      }),
    );
  });

  it("of cards stay when others come in behind them", () => {
    fc.assert(
      fc.property(sizes, sizes, sizes, how, (counts, more, shown, drawing) => {
        const later = Object.fromEntries(SECTIONS.map((name) => [name, counts[name] + more[name]])) as Record<Section, number>;
        const before = entriesOf(listsOf(counts), shown, drawing, NONE);
        const after = entriesOf(listsOf(later), shown, drawing, before);
        for (const entry of before.values()) if (entry.part === "card") expect(after.get(entry.id)).toBe(entry);
      }),
    );
  });

  it("draw or count every card", () => {
    fc.assert(
      fc.property(sizes, sizes, how, (counts, shown, drawing) => {
        const found = [...entriesOf(listsOf(counts), shown, drawing, NONE).values()];
        for (const section of SECTIONS) {
          const there = found.filter((entry) => entry.section === section);
          const cards = there.filter((entry) => entry.part === "card").length;
          expect(cards + there.reduce((sum, entry) => sum + entry.hidden, 0)).toBe(counts[section]);
        }
      }),
    );
  });
});
