// How many cards of each section fit in a column of a given height; pure.

import { SECTIONS, type Section } from "@/store/rows/cardPositions";

export const HEAD_PX = 24;
export const WIDE_PX = 45; // a waiting card of two lines
export const SLIM_PX = 28; // a card of one line
export const MORE_PX = 24;
/** Return how many of the first waiting cards are drawn wide in a column so high: a line each says more there than two of few. */
export const wideCards = (height: number): number => (height > 340 ? 3 : height > 260 ? 1 : 0);
const LEAST = 3; // cards every section may show before another takes the height

type Sizes = Readonly<Record<Section, number>>;

/** Return the height of the first `count` cards of a section. */
export function heightOf(section: Section, count: number, most = 3): number {
  if (section === "admitted" || section === "finished") return count * SLIM_PX;
  const wide = section === "waiting" ? Math.min(count, most) : count;
  return wide * WIDE_PX + (count - wide) * SLIM_PX;
}

/** Return how many cards each section shows, so that none is cut.
 *
 * Earlier sections go first, but leave height for a few cards of each later one.
 * Finished cards are folded away and get none.
 */
export function fitCards(sizes: Sizes, height: number): Record<Section, number> {
  const most = wideCards(height);
  const open = SECTIONS.filter((section) => section !== "finished" && sizes[section] > 0);
  let space = height - open.length * HEAD_PX - (sizes.finished > 0 ? MORE_PX : 0);
  const shown = { waiting: 0, failed: 0, inactive: 0, reserved: 0, admitted: 0, finished: 0 };
  open.forEach((section, at) => {
    const kept = open.slice(at + 1).reduce((sum, later) => sum + least(later, sizes, most), 0);
    shown[section] = fitSection(section, sizes[section], space - kept, most);
    space -= heightOf(section, shown[section], most);
    if (shown[section] < sizes[section]) space -= MORE_PX;
  });
  return shown;
}

function least(section: Section, sizes: Sizes, most: number): number {
  const count = Math.min(sizes[section], LEAST);
  return heightOf(section, count, most) + (count < sizes[section] ? MORE_PX : 0);
}

function fitSection(section: Section, size: number, space: number, most: number): number {
  if (heightOf(section, size, most) <= space) return size;
  let count = Math.min(size, 1); // one card is always seen
  while (count < size && heightOf(section, count + 1, most) + MORE_PX <= space) count++;
  return count;
}
