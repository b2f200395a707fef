// The live board as a scene for a projector: queues with their cards, nodes; large type, a spotlight; pure.

import { bare, mainResource, quantity } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import { fitted, widthOf, WIDTH, type Group, type Part, type Text } from "@/views/theatre/scene";

/** A card, as it is drawn. */
export interface StageCard {
  readonly key: string;
  readonly name: string;
  readonly request: string;
  readonly state: string;
}
/** A queue with what waits and what runs in it. */
export interface StageQueue {
  readonly key: string;
  readonly name: string;
  readonly colour: string;
  readonly resource: string;
  readonly used: number;
  readonly quota: number | null;
  readonly runs: string; // the word for what runs there, as its scheduler says it
  readonly waiting: readonly StageCard[];
  readonly out?: readonly StageCard[]; // switched off or failed: it waits in no queue
  readonly outs?: string; // what these are
  readonly running: readonly StageCard[];
}
/** A node and who is on it. */
export interface StageNode {
  readonly key: string;
  readonly name: string;
  readonly used: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly pods: readonly { readonly key: string; readonly name: string }[];
}
/** A queue, or a cohort, that has others below it; parents come before those below them. */
export interface StageParent {
  readonly key: string;
  readonly name: string;
  readonly depth: number;
  readonly resource: string;
  readonly used: number;
  readonly quota: number | null;
  readonly leaves: readonly string[]; // keys of queues
}
export interface StageBoard {
  readonly parents?: readonly StageParent[];
  readonly queues: readonly StageQueue[];
  readonly nodes: readonly StageNode[];
}

const GAP = 16;
const [FULL, SLIM] = [52, 32]; // of a card in two lines, and in one
const [HEAD, REST] = [26, 22];
const LEVEL = 38; // of the tree above the queues
const WIDE_CARD = 340; // from there on cards stand beside one another
const BOLD = 1.1; // as wide as that is a bold letter
const MOST_QUEUES = 5;
const MOST_NODES = 8;
const INK: Readonly<Record<string, readonly [string, string]>> = {
  pending: ["var(--st-pending)", "var(--st-pending-bg)"],
  reserved: ["var(--st-reserved)", "var(--st-reserved-bg)"],
  admitted: ["var(--st-admitted)", "var(--st-admitted-bg)"],
  evicted: ["var(--st-evicted)", "var(--st-evicted-bg)"],
  inadmissible: ["var(--st-inadmissible)", "var(--st-inadmissible-bg)"],
};
const PENDING = ["var(--st-pending)", "var(--st-pending-bg)"] as const;

const words = (x: number, y: number, text: string, size: number, fill = "var(--text)", more: Partial<Text> = {}): Text => ({ kind: "text", x, y, text, size, fill, ...more });

const cardsOf = (queue: StageQueue): readonly StageCard[] => [...queue.waiting, ...queue.running, ...(queue.out ?? [])];

/** Return what of a board a text names: keys whose names stand in it as whole words, "node-1" in "the node" too. */
export function namedIn(board: StageBoard, texts: readonly string[]): ReadonlySet<string> {
  const said = ` ${texts.join(" ").replace(/[^\p{Script=Latin}\p{N}_-]+/gu, " ")} `.toLowerCase();
  const things = [
    ...(board.parents ?? []),
    ...board.queues.flatMap((queue) => [queue, ...cardsOf(queue)]),
    ...board.nodes.flatMap((node) => [node, ...node.pods]),
  ];
  // "root.etl" is called "etl" in a sentence, "driver-0001" the driver; "a-1" is not called "a".
  const called = (name: string): string[] => {
    const last = name.slice(name.lastIndexOf(".") + 1);
    return [name, last, last.replace(/(?<=\w{3})-\d+$/, "")];
  };
  return new Set(things.filter(({ name }) => called(name).some((one) => said.includes(` ${one.toLowerCase()} `))).map(({ key }) => key));
}

/** Return the groups of a board in a box of a height; what is not in the spotlight is dim, if anything is. */
export function boardScene(board: StageBoard, high: number, spot: ReadonlySet<string>): Group[] {
  const nodes = shownFirst(board.nodes, MOST_NODES, spot);
  const beside = nodes.length > 0 && board.queues.length <= 2;
  const nodesHigh = nodes.length === 0 ? 0 : beside ? high : 96;
  const left = !beside ? WIDTH : board.queues.length === 0 ? GAP : Math.round(WIDTH * 0.4);
  const lit = (key: string, inner: readonly { key: string }[] = []): boolean => spot.size === 0 || spot.has(key) || inner.some((one) => spot.has(one.key));
  return [
    ...queueGroups(shownFirst(board.queues, MOST_QUEUES, spot), parentsOf(board, nodesHigh > 0 && !beside), left, beside ? high : high - nodesHigh, lit, spot),
    ...(beside ? nodeRows(nodes, left, WIDTH - left, high, lit) : nodeStrip(nodes, high - nodesHigh, lit)),
  ];
}

// Of too many those that are named are kept, in their order.
function shownFirst<T extends { readonly key: string }>(all: readonly T[], most: number, spot: ReadonlySet<string>): T[] {
  if (all.length <= most) return [...all];
  const kept = new Set([...all.filter((one) => spot.has(one.key)), ...all].slice(0, most));
  return all.filter((one) => kept.has(one));
}

/** Return how long one of a resource is drawn: all its bars share one scale, and each has room. */
function scaleBy(bars: readonly { readonly resource: string; readonly value: number; readonly room: number }[]): (resource: string) => number {
  return (resource) => Math.min(...bars.filter((bar) => bar.resource === resource && bar.value > 0).map((bar) => bar.room / bar.value), 1e9);
}

// One cohort alone says nothing that its columns do not say, but for quota of its own.
// Above a strip of nodes there is room for one level: that next to the queues.
function parentsOf({ parents = [], queues }: StageBoard, strip: boolean): readonly StageParent[] {
  const below = (parent: StageParent): number => queues.reduce((sum, queue) => sum + (parent.leaves.includes(queue.key) ? (queue.quota ?? 0) : 0), 0);
  if (parents.length === 1 && parents.every((parent) => (parent.quota ?? 0) <= below(parent))) return [];
  const inner = (parent: StageParent): boolean => parents.some((one) => one.depth > parent.depth && one.leaves.some((leaf) => parent.leaves.includes(leaf)));
  return strip ? parents.filter((parent) => !inner(parent)).map((parent) => ({ ...parent, depth: 0 })) : parents;
}

type Lit = (key: string, inner?: readonly { key: string }[]) => boolean;

function queueGroups(queues: readonly StageQueue[], parents: readonly StageParent[], width: number, high: number, lit: Lit, spot: ReadonlySet<string>): Group[] {
  const w = (width - GAP * (queues.length + 1)) / Math.max(1, queues.length);
  const spans = parents.flatMap((parent) => {
    const below = queues.flatMap((queue, index) => (parent.leaves.includes(queue.key) ? [index] : []));
    return below.length === 0 ? [] : [{ parent, first: below[0] ?? 0, wide: below.length * (w + GAP) - GAP }];
  });
  const top = LEVEL * Math.max(0, ...spans.map(({ parent }) => parent.depth + 1));
  const unit = scaleBy([
    ...queues.map(({ resource, used, quota }) => ({ resource, value: Math.max(used, quota ?? 0), room: w - 20 })),
    ...spans.map(({ parent: { resource, used, quota }, wide }) => ({ resource, value: Math.max(used, quota ?? 0), room: wide - 20 })),
  ]);
  return [
    ...spans.map(({ parent, first, wide }) => parentGroup(parent, GAP + first * (w + GAP), wide, unit, !lit(parent.key, queues.filter(({ key }) => parent.leaves.includes(key))))),
    ...columnGroups(queues, w, top, high, unit, lit, spot),
  ];
}

function parentGroup(parent: StageParent, x: number, w: number, unit: (resource: string) => number, dim: boolean): Group {
  const { name, resource, used, quota } = parent;
  const amounts = quota === null ? "" : `${bare(resource, used)} / ${quantity(resource, quota)}`;
  const long = (value: number): number => value * unit(resource);
  return {
    id: `parent ${parent.key}`,
    x,
    y: LEVEL * parent.depth,
    dim,
    parts: [
      { kind: "box", id: "parent", x: 0, y: 0, w, h: LEVEL - 4, r: 8, fill: "var(--sunken)" },
      words(10, 18, fitted(name, w - widthOf(amounts, 15) - 36, 16 * BOLD), 16, "var(--text)", { weight: 600 }),
      ...(quota === null
        ? []
        : [
            words(w - 10, 18, amounts, 15, "var(--text-2)", { anchor: "end" as const }),
            { kind: "box" as const, id: "track", x: 10, y: 24, w: w - 20, h: 6, r: 2, fill: "var(--track)" },
            { kind: "box" as const, id: "own", x: 10, y: 24, w: long(Math.min(used, quota)), h: 6, r: 2, fill: "var(--own)" },
            { kind: "box" as const, id: "borrowed", x: 10 + long(Math.min(used, quota)), y: 24, w: long(Math.max(0, used - quota)), h: 6, r: 2, fill: "var(--borrowed)" },
            { kind: "box" as const, id: "quota", x: 10 + long(quota) - 3, y: 21, w: 3, h: 12, fill: "var(--nominal)" },
          ]),
    ],
  };
}

function columnGroups(queues: readonly StageQueue[], w: number, top: number, high: number, unit: (resource: string) => number, lit: Lit, spot: ReadonlySet<string>): Group[] {
  return queues.flatMap((queue, index) => {
    const x = GAP + index * (w + GAP);
    const size = sizeFor(queue.name, (w - 44) / BOLD, 1, 20, 14);
    const head: Part[] = [
      { kind: "box", id: "column", x: 0, y: 0, w, h: high - top - 8, r: 10, fill: "var(--sunken)" },
      { kind: "box", id: "colour", x: 10, y: 14, w: 14, h: 14, r: 3, fill: queue.colour },
      words(32, 28, fitted(queue.name, w - 44, size * BOLD), size, "var(--text)", { weight: 600 }),
    ];
    let y = 40;
    if (queue.quota !== null) {
      const part = (value: number): number => value * unit(queue.resource);
      const own = Math.min(queue.used, queue.quota);
      const amounts = `${bare(queue.resource, queue.used)} / ${quantity(queue.resource, queue.quota)}`;
      head.push(
        { kind: "box", id: "track", x: 10, y: y + 4, w: w - 20, h: 16, r: 4, fill: "var(--track)" },
        { kind: "box", id: "own", x: 10, y: y + 4, w: part(own), h: 16, r: 4, fill: "var(--own)" },
        { kind: "box", id: "borrowed", x: 10 + part(own), y: y + 4, w: part(queue.used - own), h: 16, r: 4, fill: "var(--borrowed)" },
        { kind: "box", id: "quota", x: 10 + part(queue.quota) - 3, y, w: 3, h: 24, fill: "var(--nominal)" },
        words(w - 10, y + 42, fitted(amounts, w - 20, 16), 16, "var(--text-2)", { anchor: "end" }),
      );
      y += 54;
    }
    const dim = !lit(queue.key, cardsOf(queue));
    const groups: Group[] = [{ id: `queue ${queue.key}`, x, y: top, parts: head, dim }];
    y += top;
    const lists = ([["waiting", queue.waiting], ["running", queue.running], ["out", queue.out ?? []]] as const).filter(([, list]) => list.length > 0);
    const heading = (section: "waiting" | "running" | "out", n: number): string => (section === "waiting" ? t("stage.waiting", { n }) : `${section === "running" ? queue.runs : queue.outs}: ${n}`);
    const across = Math.max(1, Math.floor((w - 20) / WIDE_CARD));
    const { row, lines } = linesOf(lists.map(([, list]) => Math.ceil(list.length / across)), high - 16 - y);
    lists.forEach(([section, list], at) => {
      const shown = shownFirst(list, (lines[at] ?? 1) * across, spot);
      const rest = list.length - shown.length;
      groups.push({ id: `section ${queue.key} ${section}`, x, y, dim, parts: [words(12, 18, fitted(heading(section, list.length), w - 24, 15 * BOLD), 15, "var(--text-2)", { weight: 600 })] });
      y += HEAD;
      const cardWidth = (w - 20 - 8 * (across - 1)) / across;
      shown.forEach((card, place) => groups.push(cardGroup(card, x + 10 + (place % across) * (cardWidth + 8), y + Math.floor(place / across) * row, cardWidth, row, spot, spot.has(queue.key))));
      y += Math.ceil(shown.length / across) * row;
      if (rest > 0) groups.push({ id: `rest ${queue.key} ${section}`, x, y, dim, parts: [words(12, 15, t("stage.more", { n: rest }), 15, "var(--text-2)")] });
      y += rest > 0 ? REST : 6;
    });
    return groups;
  });
}

// All at full height where there is room, else in one line each, else as many of each list as fit.
function linesOf(wanted: readonly number[], room: number): { row: number; lines: readonly number[] } {
  const all = wanted.reduce((sum, one) => sum + one, 0);
  for (const row of [FULL, SLIM]) if (wanted.length * (HEAD + 6) + all * row <= room) return { row, lines: wanted };
  for (let most = Math.floor((room - wanted.length * (HEAD + 6)) / SLIM); ; most--) {
    const lines = shared(wanted, most);
    const high = lines.reduce((sum, one, at) => sum + HEAD + one * SLIM + (one < (wanted[at] ?? 0) ? REST : 6), 0);
    if (high <= room || most <= wanted.length) return { row: SLIM, lines };
  }
}

// Lines for one list or two: each has half, and what the other leaves. A third one has one.
function shared([first = 0, second, ...others]: readonly number[], most: number): number[] {
  if (others.length > 0) return [...shared([first, second ?? 0], most - others.length), ...others.map(() => 1)];
  if (second === undefined) return [Math.max(1, Math.min(first, most))];
  const own = Math.max(1, Math.min(first, Math.max(Math.ceil(most / 2), most - second)));
  return [own, Math.max(1, Math.min(second, most - own))];
}

function cardGroup(card: StageCard, x: number, y: number, w: number, row: number, spot: ReadonlySet<string>, inside: boolean): Group {
  const [ink, ground] = INK[card.state] ?? PENDING;
  const lit = spot.has(card.key);
  const slim = row < FULL;
  const beside = slim ? widthOf(card.request, 14) + 14 : 0;
  const both = beside + widthOf(card.name, 14 * BOLD) <= w - 24;
  const size = sizeFor(card.name, (w - 24 - (both ? beside : 0)) / BOLD, 1, 16, 14);
  const name = words(13, 20, fitted(card.name, w - 20 - (both ? beside : 0), size * BOLD), size, "var(--text)", { weight: 600 });
  const request = slim ? words(w - 10, 20, card.request, 14, "var(--text-2)", { anchor: "end" }) : words(13, 39, fitted(card.request, w - 20, 14), 14, "var(--text-2)");
  return {
    id: `card ${card.key}`,
    x,
    y,
    dim: spot.size > 0 && !lit && !inside,
    parts: [
      { kind: "box", id: "card", x: 0, y: 0, w, h: row - (slim ? 4 : 6), r: 7, fill: ground, stroke: lit ? "var(--accent)" : ink },
      { kind: "box", id: "state", x: 0, y: 0, w: 5, h: row - (slim ? 4 : 6), r: 2, fill: ink },
      name,
      ...(both || !slim ? [request] : []),
    ],
  };
}

// Names in lines of a width; of those that are too many their number.
function namesIn(names: readonly string[], width: number, size: number, most: number): string[] {
  if (most < 1) return [];
  const lines: string[] = [];
  let rest = names.length;
  for (const name of names) {
    const last = lines.at(-1);
    const more = lines.length >= most && rest > 1 ? widthOf(` · ${t("stage.more", { n: rest - 1 })}`, size) : 0;
    if (last !== undefined && widthOf(`${last} · ${name}`, size) + more <= width) lines[lines.length - 1] = `${last} · ${name}`;
    else if (lines.length < most) lines.push(fitted(name, width, size));
    else break;
    rest -= 1;
  }
  if (rest > 0) lines.push(`${lines.pop() ?? ""} · ${t("stage.more", { n: rest })}`);
  return lines;
}

const nodeScale = (nodes: readonly StageNode[], room: number): ((resource: string) => number) =>
  scaleBy(
    nodes.map(({ used, allocatable }) => {
      const resource = mainResource(allocatable);
      return { resource, value: Math.max(Number(used[resource] ?? 0), Number(allocatable[resource] ?? 0)), room };
    }),
  );

function nodeRows(nodes: readonly StageNode[], x: number, width: number, high: number, lit: Lit): Group[] {
  const across = nodes.length > 4 ? 2 : 1;
  const h = Math.min(116, (high - 8) / Math.max(1, Math.ceil(nodes.length / across)));
  const w = width / across - GAP;
  const unit = nodeScale(nodes, w - 24);
  return nodes.map((node, index) => {
    const resource = mainResource(node.allocatable);
    const [used, all] = [Number(node.used[resource] ?? 0), Number(node.allocatable[resource] ?? 0)];
    const amounts = `${bare(resource, used)} / ${quantity(resource, all)}`;
    const parts: Part[] = [
      { kind: "box", id: "node", x: 0, y: 0, w, h: h - 8, r: 8, fill: "var(--sunken)" },
      words(12, 24, fitted(node.name, w - widthOf(amounts, 16) - 40, 18 * BOLD), 18, "var(--text)", { weight: 600 }),
      words(w - 12, 24, amounts, 16, "var(--text-2)", { anchor: "end" }),
      { kind: "box", id: "track", x: 12, y: 31, w: all * unit(resource), h: 10, r: 3, fill: "var(--track)" },
      { kind: "box", id: "used", x: 12, y: 31, w: used * unit(resource), h: 10, r: 3, fill: "var(--own)" },
    ];
    const lines = namesIn(node.pods.map((pod) => pod.name), w - 24, 15, Math.floor((h - 54) / 19));
    parts.push(...lines.map((line, at) => words(12, 59 + 19 * at, line, 15)));
    return { id: `node ${node.key}`, x: x + (index % across) * (w + GAP), y: Math.floor(index / across) * h, parts, dim: !lit(node.key, node.pods) };
  });
}

function nodeStrip(nodes: readonly StageNode[], y: number, lit: Lit): Group[] {
  const w = (WIDTH - GAP * (nodes.length + 1)) / Math.max(1, nodes.length);
  const unit = nodeScale(nodes, w - 20);
  return nodes.map((node, index) => {
    const resource = mainResource(node.allocatable);
    const [used, all] = [Number(node.used[resource] ?? 0), Number(node.allocatable[resource] ?? 0)];
    return {
      id: `node ${node.key}`,
      x: GAP + index * (w + GAP),
      y,
      dim: !lit(node.key, node.pods),
      parts: [
        { kind: "box", id: "node", x: 0, y: 0, w, h: 84, r: 8, fill: "var(--sunken)" },
        words(10, 24, fitted(node.name, w - 20, 15 * BOLD), 15, "var(--text)", { weight: 600 }),
        { kind: "box", id: "track", x: 10, y: 34, w: all * unit(resource), h: 14, r: 3, fill: "var(--track)" },
        { kind: "box", id: "used", x: 10, y: 34, w: used * unit(resource), h: 14, r: 3, fill: "var(--own)" },
        words(w - 10, 70, fitted(`${bare(resource, used)} / ${quantity(resource, all)}`, w - 20, 14), 14, "var(--text-2)", { anchor: "end" }),
      ],
    };
  });
}

/** Return the largest size, in steps of one, at which a text has at most so many lines. */
export function sizeFor(text: string, width: number, lines: number, most: number, least: number): number {
  for (let size = most; size > least; size--) {
    // A little is left: how wide a text is, is known about.
    if (widthOf(text, size) * 1.04 <= width * lines * 0.96) return size;
  }
  return least;
}
