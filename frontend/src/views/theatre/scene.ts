// The stage as groups of boxes and texts at their places: drawn by the page, and into files; pure.

import { bare, quantity } from "@/lib/amounts";
import { formatNumber, t, tOr } from "@/lib/words.svelte";
import type { Film, FilmBar, FilmCard, FilmTerm, Inequality } from "@/protocol/types";
import { standingAt, type Standing } from "@/store/explain/film";
import { displayNameOf } from "@/store/live/displayNames";
import { saidText } from "@/store/live/said";

export const WIDTH = 1280;
export const HEIGHT = 540;
/** A picture for a file has the words below the stage. */
export const CAPTION = 140;

export interface Box {
  readonly kind: "box";
  readonly id: string; // within its group: its width moves
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly r?: number;
  readonly fill: string;
  readonly stroke?: string;
  readonly dashed?: boolean;
}
export interface Text {
  readonly kind: "text";
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly size: number;
  readonly fill: string;
  readonly weight?: number;
  readonly anchor?: "start" | "middle" | "end";
}
export type Part = Box | Text;

/** Things that move together. */
export interface Group {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly parts: readonly Part[];
  readonly dim?: boolean;
}

/** What a scene takes from the page: the colour of a queue. */
export type Colours = (queue: string) => string;

const LEFT = { x: 16, w: 216 } as const;
const MIDDLE = { x: 256, w: 584 } as const;
const RIGHT = { x: 864, w: 400 } as const;
const CARD = { w: 140, h: 40, gap: 6 } as const;
const WIDE: Readonly<Record<string, number>> = { W: 1.35, M: 1.35, m: 1.4, w: 1.25, i: 0.45, l: 0.45, ".": 0.5, "-": 0.65, "…": 1.75 };

/** Return how wide a text is, about: enough to cut it where it would leave its box. */
export function widthOf(text: string, size: number): number {
  let sum = 0;
  for (const letter of text) sum += letter.charCodeAt(0) > 0x2e7f ? 1.75 : (WIDE[letter] ?? (letter >= "A" && letter <= "Z" ? 1.15 : 1));
  return sum * size * 0.57;
}

/** Return a text cut to a width; the middle of a long name is left out. */
export function fitted(text: string, width: number, size: number): string {
  if (widthOf(text, size) <= width) return text;
  const letters = Array.from(text);
  let kept = letters.length;
  while (kept > 4 && widthOf(letters.slice(0, kept).join("") + "…", size) > width) kept -= 1;
  const end = Math.floor(kept / 3);
  return `${letters.slice(0, kept - end).join("")}…${end === 0 ? "" : letters.slice(-end).join("")}`;
}

/** Return a text in lines of a width. */
export function wrapped(text: string, width: number, size: number, most: number): string[] {
  const words = /[\u3000-\u9fff]/.test(text) ? Array.from(text) : text.split(/(?<= )/);
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && widthOf(line + word, size) > width) {
      lines.push(line);
      line = "";
    }
    line += word;
  }
  lines.push(line);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), fitted(lines.slice(most - 1).join(""), width, size)];
}

const text = (x: number, y: number, words: string, size: number, fill = "var(--text)", more: Partial<Text> = {}): Text => ({ kind: "text", x, y, text: words, size, fill, ...more });
const box = (id: string, x: number, y: number, w: number, h: number, fill: string, more: Partial<Box> = {}): Box => ({ kind: "box", id, x, y, w: Math.max(0, w), h, fill, ...more });

/** Return the groups of a step, in the order in which they are drawn. */
export function sceneOf(film: Film, at: number, colours: Colours): Group[] {
  const now = standingAt(film, at);
  if (now === undefined) return [];
  return [...heads(film, now), ...rows(film, now, colours), ...tests(now.frame.tests), ...cards(film, now, colours)];
}

/** Return the words of a step as a group, for a picture in a file. */
export function captionOf(film: Film, at: number, source: string): Group {
  const frame = film.frames[at];
  if (frame === undefined) return { id: "caption", x: 0, y: HEIGHT, parts: [] };
  const lines = wrapped(saidText(frame.said), WIDTH - 64, 22, 2);
  const parts: Part[] = [
    box("caption", 0, 0, WIDTH, CAPTION, "var(--surface)"),
    text(32, 36, fitted(saidText(frame.title), WIDTH - 300, 22), 22, "var(--text)", { weight: 600 }),
    ...lines.map((line, index) => text(32, 70 + 28 * index, line, 22)),
    text(32, CAPTION - 10, source, 14, "var(--text-3)"),
    text(WIDTH - 32, 36, `${at + 1} / ${film.frames.length}`, 16, "var(--text-3)", { anchor: "end" }),
  ];
  return { id: "caption", x: 0, y: HEIGHT, parts };
}

// ---- areas

function heads(film: Film, now: Standing): Group[] {
  const gone = [...now.zones.values()].includes("gone");
  const runs = film.cards.some((card) => ["running", "in"].includes(now.zones.get(card.id) ?? ""));
  const areas: [string, number, number, number, number, string][] = [
    ["line", LEFT.x - 8, 8, LEFT.w + 16, gone ? 330 : HEIGHT - 16, t("theatre.line")],
    ["things", RIGHT.x - 8, 8, RIGHT.w + 16, HEIGHT - 16, film.scheduler === "Kueue" ? t("theatre.quota") : t("theatre.nodes")],
  ];
  if (gone) areas.push(["gone", LEFT.x - 8, 346, LEFT.w + 16, HEIGHT - 354, t("theatre.gone")]);
  if (runs) areas.push(["runs", MIDDLE.x - 8, 426, MIDDLE.w + 16, HEIGHT - 434, t("theatre.runs")]);
  if ([...now.zones.values()].includes("candidates")) areas.push(["candidates", MIDDLE.x - 8, 256, MIDDLE.w + 16, 162, t("theatre.candidates")]);
  return areas.map(([id, x, y, w, h, words]) => ({
    id: `area ${id}`,
    x,
    y,
    parts: [box("area", 0, 0, w, h, "var(--sunken)", { r: 8 }), text(10, 20, fitted(words, w - 20, 14), 14, "var(--text-2)", { weight: 600 })],
  }));
}

// ---- cards

interface Tone {
  readonly ink: string;
  readonly ground: string;
}
const GOES: Tone = { ink: "var(--st-evicted)", ground: "var(--st-evicted-bg)" };
const STAYS: Tone = { ink: "var(--st-admitted)", ground: "var(--st-admitted-bg)" };
const HELD: Tone = { ink: "var(--st-reserved)", ground: "var(--st-reserved-bg)" };
const TONES: Readonly<Record<string, Tone>> = {
  taken: GOES, needed: GOES, removed: GOES, refused: STAYS, skipped: STAYS, spared: STAYS, noHelp: STAYS,
  withinGuarantee: STAYS, overAskGuarantee: STAYS, bound: STAYS, held: HELD,
};

function cards(film: Film, now: Standing, colours: Colours): Group[] {
  const byZone = new Map<string, FilmCard[]>();
  const known = new Map(film.cards.map((card) => [card.id, card]));
  for (const [id, zone] of now.zones) {
    const card = known.get(id);
    if (card !== undefined) byZone.set(zone, [...(byZone.get(zone) ?? []), card]);
  }
  const groups: Group[] = [];
  for (const [zone, list] of byZone) {
    list.forEach((card, place) => {
      const spot = placeOf(zone, place, list.length, now, film);
      if (spot !== null) groups.push(cardOf(card, now, colours, spot, film));
    });
  }
  // Each card keeps its place in the drawing: what moves is the same element.
  return groups.sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

function placeOf(zone: string, place: number, all: number, now: Standing, film: Film): Spot | null {
  if (zone === "head") return { x: MIDDLE.x + (MIDDLE.w - 300) / 2, y: 14, w: 300, h: 58 };
  if (zone === "line") return stacked(LEFT.x, 36, LEFT.w, place, all, [...now.zones.values()].includes("gone") ? 6 : 10);
  if (zone === "gone") return stacked(LEFT.x, 374, LEFT.w, place, all, 3);
  if (zone === "candidates") return tiled(284, place, all, 3);
  if (zone === "running" || zone === "in") return tiled(452, place, all, 2);
  const row = rowsOf(film, now).find((one) => `Node/${one.name}` === zone);
  if (row === undefined) return null;
  const w = Math.min(110, (RIGHT.w - 6) / Math.max(1, Math.min(all, 6)) - 4);
  return place >= 6 ? null : { x: RIGHT.x + place * (w + 4), y: row.y + 32, w, h: 22 };
}

function stacked(x: number, y: number, w: number, place: number, all: number, most: number): Spot | null {
  const step = Math.min(CARD.h + CARD.gap, (most * (CARD.h + CARD.gap)) / Math.max(most, Math.min(all, 3 * most)));
  return place >= 3 * most ? null : { x, y: y + place * step, w, h: CARD.h };
}

function tiled(y: number, place: number, all: number, lines: number): Spot | null {
  const columns = Math.max(3, Math.ceil(Math.min(all, 12 * lines) / lines));
  const w = (MIDDLE.w - (columns - 1) * CARD.gap) / columns;
  const line = Math.floor(place / columns);
  return line >= lines ? null : { x: MIDDLE.x + (place % columns) * (w + CARD.gap), y: y + line * (CARD.h + CARD.gap - (lines > 2 ? 2 : 0)), w, h: CARD.h - (lines > 2 ? 2 : 0) };
}

function cardOf(card: FilmCard, now: Standing, colours: Colours, spot: Spot, film: Film): Group {
  const mark = now.marks.get(card.id) ?? "";
  const tone = TONES[mark];
  const lit = now.frame.spot.includes(card.id);
  const subject = card.id === film.subject;
  const stroke = lit ? "var(--accent)" : (tone?.ink ?? "var(--line-2)");
  const big = spot.h > CARD.h;
  const small = spot.h < 30;
  const size = big ? 17 : 14;
  const parts: Part[] = [
    box("card", 0, 0, spot.w, spot.h, tone?.ground ?? "var(--surface)", { r: small ? 4 : 6, stroke }),
    box("queue", 0, 0, 4, spot.h, subject ? "var(--accent)" : card.group === "" ? "var(--text-3)" : colours(card.group), { r: 2 }),
  ];
  const word = mark === "" || small ? "" : tOr(`theatre.mark.${mark === "refused" ? "skipped" : mark}`, "");
  const room = spot.w - 18 - (word === "" ? 0 : widthOf(word, 14) + 6);
  parts.push(text(10, big ? 25 : 16, fitted(displayNameOf(card.id), (small ? spot.w - 14 : room) / 1.1, size), size, "var(--text)", { weight: 600 }));
  if (!small) {
    const asked = card.held.filter((one) => one.resource !== "pods").map((one) => quantity(one.resource, one.amount)).join(" · ");
    const under = [asked, card.priority === null ? "" : t("pane.priority", { priority: formatNumber(card.priority) })].filter(Boolean).join(" · ");
    parts.push(text(10, big ? 46 : 34, fitted(under, spot.w - 16, 14), 14, "var(--text-2)"));
  }
  if (word !== "") parts.push(text(spot.w - 7, 16, word, 14, tone?.ink ?? "var(--text-2)", { anchor: "end", weight: 600 }));
  return { id: `card ${card.id}`, x: spot.x, y: spot.y, parts };
}

// ---- bars

interface Row {
  readonly name: string;
  readonly y: number;
  readonly bars: readonly FilmBar[];
}

const ROOM: Readonly<Record<string, number>> = { Node: 66 };
const THIN = 16;

// What belongs to one queue or node is one row: quota and share, room and points.
function rowsOf(film: Film, now: Standing): Row[] {
  const shown = film.bars.filter((bar) => now.known.has(bar.id) && (bar.limit !== 0 || (now.used.get(bar.id) ?? 0) > 0 || bar.id in now.frame.demand) && (bar.kind !== "Domain" || now.frame.spot.includes(bar.id)) && (bar.kind !== "Cost" || bar.id in now.frame.used));
  const rows: { name: string; bars: FilmBar[] }[] = [];
  for (const bar of shown) {
    const beside = ["Share", "Score", "Cost"].includes(bar.kind) ? rows.find((row) => row.name === bar.name) : undefined;
    if (beside === undefined) rows.push({ name: bar.name, bars: [bar] });
    else beside.bars.push(bar);
  }
  const room = (row: { bars: FilmBar[] }): number => (ROOM[row.bars[0]?.kind ?? ""] ?? 42) + THIN * (row.bars.length - 1);
  // Of too many rows those that the step is about are kept.
  const lit = (row: { bars: FilmBar[] }): boolean => row.bars.some((bar) => now.frame.spot.includes(bar.id) || now.marks.get(bar.id) === "chosen");
  let left = HEIGHT - 52;
  const kept = new Set(rows.toSorted((a, b) => Number(lit(b)) - Number(lit(a))).filter((row) => (left -= room(row)) >= 0));
  let y = 36;
  return rows.filter((row) => kept.has(row)).map((row) => {
    const made = { name: row.name, y, bars: row.bars };
    y += room(row);
    return made;
  });
}

function rows(film: Film, now: Standing, colours: Colours): Group[] {
  return rowsOf(film, now).map((row) => {
    const [first, ...more] = row.bars;
    const parts: Part[] = first === undefined ? [] : bar(first, 0, now, colours, 14, film);
    more.forEach((one, index) => parts.push(...thin(one, 37 + THIN * index + (first?.kind === "Node" ? 24 : 0), now, film)));
    return { id: `row ${row.bars[0]?.id ?? row.name}`, x: RIGHT.x, y: row.y, parts, dim: now.marks.get(first?.id ?? "") === "lost" };
  });
}

const said = (resource: string, value: number): string => (resource === "" ? formatNumber(value, 1) : bare(resource, value));

function bar(one: FilmBar, y: number, now: Standing, colours: Colours, high: number, film: Film): Part[] {
  const used = now.used.get(one.id) ?? 0;
  const asks = now.frame.demand[one.id] ?? 0;
  const { limit } = one;
  // Bars of one resource share one scale: a longer one is more.
  const kin = film.bars.filter((other) => other.kind === one.kind && other.resource === one.resource && now.known.has(other.id));
  const whole = Math.max(1e-9, used + asks, limit ?? 0, ...kin.map((other) => Math.max((now.used.get(other.id) ?? 0) + (now.frame.demand[other.id] ?? 0), other.limit ?? 0)));
  const wide = (value: number): number => (RIGHT.w * value) / whole;
  const mark = now.marks.get(one.id) ?? "";
  const lit = now.frame.spot.includes(one.id);
  const fill = one.kind === "ClusterQueue" || one.kind === "Queue" ? colours(one.name) : "var(--own)";
  const known = now.frame.tests.length === 0 || now.frame.tests.every((test) => test.holds !== null);
  const over = limit !== null && used + asks > limit;
  const amounts = limit === null ? said(one.resource, used) : `${said(one.resource, used)}${asks > 0 ? ` + ${said(one.resource, asks)}` : ""} / ${quantityOf(one.resource, limit)}`;
  const word = mark === "" ? "" : tOr(`theatre.mark.${mark}`, "");
  const parts: Part[] = [
    text(0, y + 12, fitted(nameOf(one), RIGHT.w - widthOf(`${amounts} ${word}`, 14) - 24, 14), 14, lit ? "var(--accent)" : "var(--text)", { weight: lit ? 600 : 400 }),
    text(RIGHT.w, y + 12, amounts, 14, "var(--text-2)", { anchor: "end" }),
    box("track", 0, y + 16, RIGHT.w, high, "var(--track)", { r: 3 }),
    box("used", 0, y + 16, wide(used), high, fill, { r: 3 }),
  ];
  if (asks > 0) parts.push(box("asks", wide(used), y + 16, wide(asks), high, !known ? "var(--line-3)" : over ? "var(--over)" : "var(--st-admitted)", { r: 3, stroke: "var(--text)", dashed: true }));
  if (limit !== null) parts.push(box("limit", Math.min(RIGHT.w - 2, wide(limit)), y + 13, 2, high + 6, "var(--nominal)"));
  if (word !== "") parts.push(text(RIGHT.w - widthOf(amounts, 14) - 12, y + 12, word, 14, mark === "refused" || mark === "lost" || mark === "left" ? "var(--fail)" : "var(--pass)", { anchor: "end", weight: 600 }));
  return parts;
}

function nameOf(one: FilmBar): string {
  if (one.kind === "Free") return t("theatre.free", { resource: one.resource });
  if (one.kind === "Share") return t("theatre.share", { name: one.name });
  return one.resource === "" || one.kind === "Node" ? one.name : `${one.name} · ${one.resource}`;
}

// Points, costs and shares are beside what they are of: as long as they are of the most.
function thin(one: FilmBar, y: number, now: Standing, film: Film): Part[] {
  const kin = film.bars.filter((other) => other.kind === one.kind && (one.kind !== "Cost" || other.id.split("/")[1] === one.id.split("/")[1]));
  const most = Math.max(1e-9, ...kin.map((other) => Math.max(now.used.get(other.id) ?? 0, other.limit ?? 0)));
  const used = now.used.get(one.id) ?? 0;
  const label = one.kind === "Share" ? t("theatre.shareShort", { share: said("", used) }) : said("", used);
  return [
    box(`${one.id} track`, 0, y, RIGHT.w - 90, 7, "var(--track)", { r: 2 }),
    box(one.id, 0, y, Math.max(0, ((RIGHT.w - 90) * used) / most), 7, one.kind === "Cost" ? "var(--over)" : "var(--st-reserved)", { r: 2 }),
    text(RIGHT.w, y + 9, label, 14, "var(--text-2)", { anchor: "end", weight: 600 }),
  ];
}

const quantityOf = (resource: string, value: number): string => (resource === "" ? formatNumber(value, 1) : quantity(resource, value));

// ---- tests

function tests(list: readonly Inequality[]): Group[] {
  return list.slice(0, 2).map((test, index) => inequality(test, 84 + index * 82));
}

const term = ({ value, resource }: FilmTerm): string => (value === null ? "∞" : quantityOf(resource, value));

function inequality(test: Inequality, y: number): Group {
  const half = (MIDDLE.w - 70) / 2;
  const most = Math.max(1e-9, ...[test.left.value, test.right.value].map((value) => Math.abs(value ?? 0)));
  const wide = (value: number | null): number => (value === null ? half : (half * Math.abs(value)) / most);
  const open = test.holds === null;
  const colour = open ? "var(--text-2)" : test.holds ? "var(--pass)" : "var(--fail)";
  const right = MIDDLE.w - half;
  const parts: Part[] = [
    text(0, 14, fitted(saidText(test.left.label), half, 14), 14, "var(--text-2)"),
    box("left track", 0, 22, half, 20, "var(--track)", { r: 3 }),
    box("left", 0, 22, wide(test.left.value), 20, "var(--accent)", { r: 3 }),
    text(0, 62, term(test.left), 18, "var(--text)", { weight: 600 }),
    text(MIDDLE.w / 2, 40, open ? `${test.sign} ?` : test.sign, 24, colour, { anchor: "middle", weight: 600 }),
    text(right, 14, fitted(saidText(test.right.label), half, 14), 14, "var(--text-2)"),
    box("right track", right, 22, half, 20, "var(--track)", { r: 3 }),
    box("right", right, 22, wide(test.right.value), 20, "var(--own)", { r: 3 }),
    text(right, 62, term(test.right), 18, "var(--text)", { weight: 600 }),
  ];
  if (!open) parts.push(text(MIDDLE.w / 2, 64, test.holds ? t("theatre.holds") : t("theatre.fails"), 14, colour, { anchor: "middle", weight: 600 }));
  return { id: `test ${y}`, x: MIDDLE.x, y, parts };
}
