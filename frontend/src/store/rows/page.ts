// One sandbox at one revision, and what a diff makes of it; pure.

import type { AnyRow, Diff, EventLine, PageState, Sample, SandboxRow } from "@/protocol/types";
import { RowMap } from "@/store/rows/rowMap";

export interface Page {
  readonly revision: number;
  readonly rows: RowMap;
  readonly samples: readonly Sample[]; // ascending ticks, one each
  readonly events: readonly EventLine[]; // ascending (revision, seq)
}

/** A diff that does not start where the page is; the cure is to ask for all. */
export class GapError extends Error {
  override readonly name = "GapError";
}

const MOST_SAMPLES = 20_000;
const MOST_EVENTS = 4_000;

export const EMPTY_PAGE: Page = { revision: -1, rows: new RowMap(new Map()), samples: [], events: [] };

/** Return the page that a whole state describes, and nothing of any page before it. */
export function pageOf(state: PageState): Page {
  const { revision, rows, samples, events } = state;
  return { revision, rows: new RowMap(new Map(rows.map((row) => [row.key, row]))), samples, events };
}

/** Return the page at a tick of the past; its curves reach back as far as the newest page's. */
export function pageAt(state: PageState, newest: Page): Page {
  const page = pageOf(state);
  const tick = tickOf(page);
  const first = page.samples[0]?.tick ?? tick + 1;
  const earlier = newest.samples.filter((sample) => sample.tick < first);
  return {
    ...page,
    samples: upTo([...earlier, ...page.samples], tick),
    events: upTo(page.events, tick),
  };
}

/** Return the tick of a page; Infinity while it has no sandbox. */
export function tickOf(page: Page): number {
  return sandboxOf(page)?.tick ?? Infinity;
}

/** Return the sandbox of a page; undefined before its first state. */
export function sandboxOf(page: Page): SandboxRow | undefined {
  const row = page.rows.get("Sandbox//sandbox");
  return row?.kind === "Sandbox" ? row : undefined;
}

/** Return the page after a diff.
 *
 * Throws GapError when the diff starts at another revision. O(changes) of the newest page;
 * rows that did not change are the same objects. When the clock goes back, samples and
 * events of the ticks after it are gone.
 */
export function applyDiff(page: Page, diff: Diff): Page {
  if (diff.from !== page.revision) {
    throw new GapError(`diff from ${diff.from}, page is at ${page.revision}`);
  }
  const changes = new Map<string, AnyRow | undefined>(diff.removed.map((key) => [key, undefined]));
  for (const row of diff.added) changes.set(row.key, row);
  for (const key in diff.updated) {
    const row = changes.has(key) ? changes.get(key) : page.rows.get(key);
    if (row === undefined) throw new GapError(`diff updates ${key}, which is not here`);
    changes.set(key, { ...row, ...diff.updated[key] } as AnyRow); // the key names the kind of both
  }
  const { samples } = page;
  const back = diff.tick < tickOf(page);
  return {
    revision: diff.revision,
    rows: page.rows.with(changes),
    samples: joinSamples(back ? upTo(samples, diff.tick) : samples, diff.samples),
    events: joinEvents(back ? upTo(page.events, diff.tick) : page.events, diff.events),
  };
}

// What lies after a tick is of a future that the clock went back before.
function upTo<T extends { readonly tick: number }>(lines: readonly T[], tick: number): readonly T[] {
  return lines.filter((line) => line.tick <= tick);
}

const HISTORY_EDITS: ReadonlySet<string> = new Set(["Rewind", "Undo", "Redo"]);

/** Return whether a diff gives the sandbox another past: its curves and marks are to be asked for again. */
export function rewritesHistory(diff: Diff): boolean {
  return diff.events.some((event) => event.type === "Edit" && HISTORY_EDITS.has(event.reason));
}

/** Return two runs of samples as one; where they overlap, the later one holds.
 *
 * A rewind makes the clock go back: what lies after its first tick is dropped.
 */
export function joinSamples(
  before: readonly Sample[],
  after: readonly Sample[],
): readonly Sample[] {
  const first = after[0];
  if (first === undefined) return before;
  const last = before.at(-1);
  const kept =
    last !== undefined && last.tick >= first.tick
      ? before.filter((sample) => sample.tick < first.tick)
      : before;
  return [...kept, ...after].slice(-MOST_SAMPLES);
}

// What nothing was added to is the same list: nobody reads it anew.
function joinEvents(before: readonly EventLine[], after: readonly EventLine[]): readonly EventLine[] {
  return after.length === 0 ? before : [...before, ...after].slice(-MOST_EVENTS);
}

/** Return the keys whose rows differ between two pages. O(rows). */
export function changedKeys(before: Page, after: Page): string[] {
  const changed: string[] = [];
  for (const [key, row] of after.rows) if (before.rows.get(key) !== row) changed.push(key);
  for (const key of before.rows.keys()) if (!after.rows.has(key)) changed.push(key);
  return changed;
}

/** Return the keys that a diff touches. */
export function touchedKeys(diff: Diff): string[] {
  return [...diff.removed, ...diff.added.map((row) => row.key), ...Object.keys(diff.updated)];
}
