// The run on one axis: the area of pending workloads, the marks, the steps; pure.

import type { EventLine, Sample } from "@/protocol/types";
import { kindOf, type MarkKind } from "@/store/rows/eventKinds";

export const MARK_KINDS: readonly MarkKind[] = ["preemption", "failure", "edit", "fork"];

export interface Mark {
  readonly kind: MarkKind;
  readonly tick: number;
  readonly count: number;
  readonly title: string;
}

type Scale = (tick: number) => number;
const NEAR_PX = 8;

/** Return how many wait at what the area is as high as it may be. */
export function mostPending(samples: readonly Sample[], least: number): number {
  return Math.max(least, ...samples.map((sample) => sample.pending));
}

/** Return the paths of a stepped area over a line at `base`, at most `height` high where so many or `least` wait. */
export function areaPath(
  samples: readonly Sample[],
  x: Scale,
  base: number,
  height: number,
  least = 4,
): { fill: string; line: string } {
  if (samples.length === 0) return { fill: "", line: "" };
  const most = mostPending(samples, least);
  const points = thin(samples, x);
  let line = "";
  for (const sample of points) {
    const y = (base - (height * sample.pending) / most).toFixed(1);
    line += line === "" ? `M${x(sample.tick).toFixed(1)} ${y}` : `H${x(sample.tick).toFixed(1)}V${y}`;
  }
  const first = x(points[0]?.tick ?? 0).toFixed(1);
  const last = x(points.at(-1)?.tick ?? 0).toFixed(1);
  return { fill: `${line}V${base}H${first}z`, line: `${line}H${last}` };
}

// One sample a pixel is all that can be seen; the highest of them is kept.
function thin(samples: readonly Sample[], x: Scale): Sample[] {
  const kept: Sample[] = [];
  for (const sample of samples) {
    const last = kept.at(-1);
    if (last === undefined || Math.floor(x(sample.tick)) !== Math.floor(x(last.tick))) kept.push(sample);
    else if (sample.pending > last.pending) kept[kept.length - 1] = sample;
  }
  return kept;
}

/** Return round numbers from 0 to `end`, some `most` of them, none closer than `least`. */
export function axisSteps(end: number, most: number, least = 1): number[] {
  const rough = end / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, rough)));
  const size = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? end;
  return Array.from({ length: Math.floor(end / size) + 1 }, (_, index) => index * size);
}

/** Return one mark per thing that happened: preemptor, lost node, edit, fork; `say`: what an event says. */
export function marksOf(events: readonly EventLine[], say = (event: EventLine): string => event.message): Mark[] {
  const marks = new Map<string, Mark>();
  for (const event of events) {
    const kind = kindOf(event.type).mark?.(event);
    if (!kind) continue;
    const id = `${kind}/${event.tick}`;
    const before = marks.get(id);
    const title = `${event.tick}: ${say(event) || event.subject}`;
    marks.set(id, { kind, tick: event.tick, count: 1, title: before?.title ?? title });
  }
  return [...marks.values()];
}

/** Return marks of one kind that would overlap as one mark with a count. */
export function mergeMarks(marks: readonly Mark[], x: Scale): Mark[] {
  const merged: Mark[] = [];
  for (const mark of [...marks].sort((a, b) => a.tick - b.tick)) {
    const near = merged.findLastIndex((other) => other.kind === mark.kind);
    const last = merged[near];
    if (last !== undefined && x(mark.tick) - x(last.tick) < NEAR_PX) {
      merged[near] = { ...last, count: last.count + 1 };
    } else merged.push(mark);
  }
  return merged;
}

/** Return the newest events, newest first: `listed`, of which at most `limit` were asked for, and those at hand.
 *
 * A page keeps its events for decisions, so that those at hand may reach further back than
 * a full list of all types: what is before its oldest is left out, as more lies between.
 */
export function joinNewest(listed: readonly EventLine[], limit: number, atHand: readonly EventLine[]): EventLine[] {
  const oldest = listed.length < limit ? undefined : listed.toSorted(newestFirst).at(-1);
  const known = oldest === undefined ? atHand : atHand.filter((event) => newestFirst(event, oldest) <= 0);
  const all = new Map([...listed, ...known].map((event) => [`${event.revision}.${event.seq}`, event]));
  return [...all.values()].sort(newestFirst);
}

const newestFirst = (a: EventLine, b: EventLine): number => b.revision - a.revision || b.seq - a.seq;
