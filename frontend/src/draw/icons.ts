// The drawings of every icon, on a 16 x 16 grid; `fill` parts are solid.

export interface Stroke {
  readonly d: string;
  readonly fill?: true;
  readonly bold?: true;
}

const RING = "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 1 1 8 2.2z";

function line(d: string): Stroke {
  return { d };
}
function solid(d: string): Stroke {
  return { d, fill: true };
}
function bold(d: string): Stroke {
  return { d, bold: true };
}

export const ICONS = {
  start: [line("M2.6 7 8 2.6 13.4 7v6.4H9.8V9.6H6.2v3.8H2.6z")],
  board: [line("M2.6 3h2.8v10H2.6zM6.6 3h2.8v7H6.6zM10.6 3h2.8v4.4h-2.8z")],
  nodes: [line("M2.6 2.6h4.2v4.2H2.6zM9.2 2.6h4.2v4.2H9.2zM2.6 9.2h4.2v4.2H2.6zM9.2 9.2h4.2v4.2H9.2z")],
  fairness: [line("M8 2.4v11M5 13.6h6M3.2 4.4h9.6M3.2 4.6 1.5 9h3.4zM12.8 4.6 11.1 9h3.4z")],
  preempt: [line("M2.4 5h8.4M8.2 2.5 10.8 5 8.2 7.5M13.6 11H5.2M7.8 8.5 5.2 11l2.6 2.5")],
  compare: [line("M2.4 12.6c3.2 0 2.8-8 6.2-8h4.6M2.4 12.6c4 0 5.2-2.8 11-2.8M11.2 2.5l2.2 2.1-2.2 2.1")],
  policy: [line("M2.4 4.6h5.8M12 4.6h1.6M2.4 11.4h1.8M8 11.4h5.6M8.4 4.6a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0zM4.3 11.4a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0z")],
  runs: [line("M6 2.4h4M6.8 2.4v4.2L3.1 12.4c-.4.7 0 1.2.7 1.2h8.4c.7 0 1.1-.5.7-1.2L9.2 6.6V2.4M5 10h6")],
  lessons: [line("M8 4.2C6.6 3.1 4.8 2.8 2.5 2.8v9.1c2.3 0 4.1.2 5.5 1.3 1.4-1.1 3.2-1.3 5.5-1.3V2.8c-2.3 0-4.1.3-5.5 1.4zM8 4.2v9")],
  events: [line("M5.6 4h8M5.6 8h8M5.6 12h8"), bold("M2.6 4h0M2.6 8h0M2.6 12h0")],
  pending: [line(RING), line("M8 4.8v3.3l2.2 1.3")],
  reserved: [line("M4.3 2.5h7.4v11L8 10.7l-3.7 2.8z")],
  admitted: [line(RING), solid("M6.8 5.5v5L10.7 8z")],
  evicted: [line("M6.4 2.8H3.2v10.4h3.2M6.6 8h6.8M10.8 5.3 13.5 8l-2.7 2.7")],
  finished: [line(RING), line("m5.4 8.2 1.9 1.8 3.4-3.8")],
  inadmissible: [line(RING), line("m4 12 8-8")],
  inactive: [line(RING), line("M6.4 5.8v4.4M9.6 5.8v4.4")],
  down: [line("m5 6.5 3 3 3-3")],
  right: [line("m6.5 5 3 3-3 3")],
  branch: [line("M4.5 5.2v5.6M11.5 5.2c0 3.4-7 2.2-7 5.4M3 3.7a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0zM10 3.7a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0zM3 12.3a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0z")],
  back: [solid("M12 3.6v8.8L6.2 8z"), line("M4 3.6v8.8")],
  step: [solid("M4 3.6v8.8L9.8 8z"), line("M12 3.6v8.8")],
  play: [solid("M5 3.2v9.6L12.4 8z")],
  pause: [bold("M5.6 3.8v8.4M10.4 3.8v8.4")],
  until: [line("M2.4 8h7M6.8 5.2 9.6 8l-2.8 2.8M13 3v2M13 7v2M13 11v2")],
  undo: [line("M3 6.6h6.4a3.4 3.4 0 0 1 0 6.8H6M5.8 3.7 3 6.6l2.8 2.8")],
  redo: [line("M13 6.6H6.6a3.4 3.4 0 0 0 0 6.8H10M10.2 3.7 13 6.6l-2.8 2.8")],
  share: [line("M8 9.8V2.6M5.3 5.1 8 2.5l2.7 2.6M3 8.6v4.8h10V8.6")],
  upload: [line("M8 10.4V3M5 5.9 8 2.9l3 3M3 11.2v2.3h10v-2.3")],
  download: [line("M8 3v7.6M5 7.8l3 3 3-3M3 11.2v2.3h10v-2.3")],
  search: [line("M2.8 7a4.2 4.2 0 1 0 8.4 0 4.2 4.2 0 1 0-8.4 0zM10.2 10.2l3.2 3.2")],
  theme: [line("M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11z"), solid("M8 2.5a5.5 5.5 0 0 1 0 11z")],
  more: [bold("M3.6 8h0M8 8h0M12.4 8h0")],
  close: [line("m4 4 8 8M12 4l-8 8")],
  none: [], // the room of a mark that is not set
  check: [line("m3.4 8.5 3 3 6.2-7")],
  warn: [line("M8 2.8 14 13H2zM8 6.8v2.8"), bold("M8 11.3h0")],
  edit: [line("M3 13l.6-3L10.8 2.9 13.1 5.2 5.9 12.4z")],
  link: [line("M6.6 9.4l2.8-2.8M7 4.6l1.2-1.2a3 3 0 0 1 4.3 4.2L11.3 8.8M9 11.4l-1.2 1.2a3 3 0 0 1-4.3-4.2L4.7 7.2")],
  grip: [bold("M6 4h0M10 4h0M6 8h0M10 8h0M6 12h0M10 12h0")],
  filter: [line("M2.5 4.2h11M4.6 8h6.8M6.6 11.8h2.8")],
  bolt: [line("M9 2 3.6 9.1H8l-1 4.9 5.4-7.1H8z")],
  file: [line("M4 2.5h5l3 3v8H4zM9 2.5v3h3")],
  plus: [line("M8 3v10M3 8h10")],
  lock: [line("M3.6 7h8.8v6.4H3.6zM5.6 7V5a2.4 2.4 0 0 1 4.8 0v2")],
  power: [line("M8 2.6V8M4.7 4.6a5 5 0 1 0 6.6 0")],
  copy: [line("M5.6 5.6h7.6v7.6H5.6zM10.4 5.6V2.8H2.8v7.6h2.8")],
  ready: [line("M3.4 8.5l3 3 6.2-7")],
  help: [line(RING), line("M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.2"), bold("M8 11.2h0")],
  pin: [line("M6 2.6h4M6.6 2.6v4L4.6 9h6.8L9.4 6.6v-4M8 9v4.6")],
  table: [line("M2.6 3.2h10.8v9.6H2.6zM2.6 6.4h10.8M6.6 6.4v6.4")],
  present: [line("M2.4 3h11.2v7.6H2.4zM8 10.6v2.8M5.6 13.4h4.8")],
} as const satisfies Readonly<Record<string, readonly Stroke[]>>;

export type IconName = keyof typeof ICONS;

/** What an icon is drawn with: a path of all strokes of a kind, undefined where it has none. */
export interface IconPaths {
  readonly thin?: string;
  readonly bold?: string;
  readonly solid?: string;
}

const joined = new Map<IconName, IconPaths>();

/** Return the paths of an icon; the same object every time. */
export function pathsOf(name: IconName): IconPaths {
  const known = joined.get(name);
  if (known !== undefined) return known;
  const paths: { thin?: string; bold?: string; solid?: string } = {};
  for (const stroke of ICONS[name] as readonly Stroke[]) {
    const kind = stroke.fill ? "solid" : stroke.bold ? "bold" : "thin";
    // What begins with a relative move begins at the corner, not where the stroke before ended.
    paths[kind] = `${paths[kind] ?? ""}M0 0${stroke.d}`;
  }
  joined.set(name, paths);
  return paths;
}
