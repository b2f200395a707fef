// A decision as a film: what stands where at a step, and where films are asked for; pure but for the asking.

import { ask } from "@/net/rest";
import type { Film, FilmFrame } from "@/protocol/types";

/** What stands on the stage at a step: everything that frames up to it did. */
export interface Standing {
  readonly frame: FilmFrame;
  readonly zones: ReadonlyMap<string, string>;
  readonly marks: ReadonlyMap<string, string>;
  readonly used: ReadonlyMap<string, number>;
  /** Bars that something has filled or named by now; a bar of a later frame says what comes. */
  readonly known: ReadonlySet<string>;
}

const LATE: ReadonlySet<string> = new Set(["Score", "Cost", "Domain", "Free"]);

/** Return what stands on the stage at a step; of a film without frames, undefined. */
export function standingAt(film: Film, at: number): Standing | undefined {
  const zones = new Map(film.cards.map((card) => [card.id, card.zone]));
  const used = new Map(film.bars.map((bar) => [bar.id, bar.used]));
  const known = new Set(film.bars.filter((bar) => !LATE.has(bar.kind)).map((bar) => bar.id));
  const marks = new Map<string, string>();
  const seen = film.frames.slice(0, at + 1);
  for (const frame of seen) {
    for (const [id, zone] of Object.entries(frame.moves)) {
      zones.delete(id); // who moves comes last where it arrives
      zones.set(id, zone);
    }
    for (const [id, mark] of Object.entries(frame.marks)) marks.set(id, mark);
    for (const [id, amount] of Object.entries(frame.used)) {
      used.set(id, amount);
      known.add(id);
    }
    for (const id of [...frame.spot, ...Object.keys(frame.demand)]) known.add(id);
    if (frame.kind === "who") known.add("free");
  }
  const frame = seen.at(-1);
  return frame === undefined ? undefined : { frame, zones, marks, used, known };
}

/** Ask for a film: of an event ("17.2"), or of an object by its key. */
export function fetchFilm(sandbox: string, of: string, tick: number | null, other: boolean): Promise<Film> {
  if (!of.includes("/")) return ask("Film", "GET", `/sandboxes/${sandbox}/events/${of}/film`, { query: { other: other ? "true" : null } });
  const [kind = "", namespace = "", name = ""] = of.split("/");
  return ask("Film", "GET", `/sandboxes/${sandbox}/explain/${namespace}/${name}/film`, { query: { kind, tick, other: other ? "true" : null } });
}

/** Ask for the film of a decision by a link that shows it in another page. */
export function fetchEmbedded(secret: string): Promise<Film> {
  return ask("Film", "POST", "/embeds/open", { body: { secret } });
}
