// What stands in a column from top to bottom: heads, cards, and how many stay hidden; pure.

import { SECTIONS, type Section } from "@/store/rows/cardPositions";
import type { Lists } from "@/store/rows/columns.svelte";

/** One line of a column. An entry that did not change is the same object: its card is not looked at. */
export interface Entry {
  readonly id: string; // of a card: its key
  readonly part: "head" | "card" | "more";
  readonly section: Section;
  readonly of: number; // how many stand in the section; of a card 0: it would change with each that comes or goes
  readonly position: number | null; // of a card that waits in an order: its place, from 1
  readonly hidden: number; // of "more": how many are not drawn
  readonly slim: boolean; // a card of one line
}

interface Drawing {
  readonly ranked: boolean; // waiting cards say their place
  readonly wide: number; // so many of the first waiting cards have two lines
  readonly compact: boolean; // a line for every card
}

/** Return the entries by their ids, in order; `counts`: how many cards each section shows. */
export function entriesOf(lists: Lists, counts: Readonly<Record<Section, number>>, how: Drawing, before: ReadonlyMap<string, Entry>): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  const add = (entry: Entry): void => void found.set(entry.id, kept(before.get(entry.id), entry));
  for (const section of SECTIONS) {
    const keys = lists[section];
    const of = keys.length;
    if (of === 0) continue;
    const count = Math.min(counts[section], of);
    if (section !== "finished") add({ ...LINE, id: `head/${section}`, part: "head", section, of });
    for (let at = 0; at < count; at++) add(cardAt(keys[at] ?? "", section, at, how));
    if (of > count) add({ ...LINE, id: `more/${section}`, part: "more", section, of, hidden: of - count });
  }
  return found;
}

const LINE = { position: null, hidden: 0, slim: false } as const;

function cardAt(id: string, section: Section, at: number, { ranked, wide, compact }: Drawing): Entry {
  const waits = section === "waiting";
  const slim = compact || section === "admitted" || section === "finished" || (waits && at >= wide);
  return { id, part: "card", section, of: 0, position: waits && ranked ? at + 1 : null, hidden: 0, slim };
}

function kept(before: Entry | undefined, now: Entry): Entry {
  const same =
    before?.section === now.section &&
    before.of === now.of &&
    before.position === now.position &&
    before.hidden === now.hidden &&
    before.slim === now.slim;
  return same ? before : now;
}
