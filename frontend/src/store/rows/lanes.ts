// Decisions on one time axis: a lane for each kind, marks where something happened; pure.

import type { EventLine, WorkloadVerdict } from "@/protocol/types";
import { EVENT_TYPES, kindOf, type Lane } from "@/store/rows/eventKinds";

export const LANES = [...new Set(EVENT_TYPES.flatMap((type) => kindOf(type).lane ?? []))];
const NEAR_PX = 5;

/** What happened at a tick, or at ticks too near to be drawn apart. */
export interface LaneMark {
  readonly tick: number; // of the first
  readonly count: number;
  readonly event: EventLine | undefined; // the first; none where it is only computed
}

type Scale = (tick: number) => number;

function merged(ticks: readonly (readonly [number, EventLine | undefined])[], x: Scale): LaneMark[] {
  const marks: LaneMark[] = [];
  for (const [tick, event] of ticks.toSorted((a, b) => a[0] - b[0])) {
    const last = marks.at(-1);
    if (last !== undefined && x(tick) - x(last.tick) < NEAR_PX) marks[marks.length - 1] = { ...last, count: last.count + 1 };
    else marks.push({ tick, count: 1, event });
  }
  return marks;
}

/** Return the marks of a lane. */
export function marksOf(events: readonly EventLine[], lane: Lane, x: Scale): LaneMark[] {
  return merged(events.filter((event) => kindOf(event.type).lane === lane).map((event) => [event.tick, event] as const), x);
}

/** Return when work starts on one side of a what-if that starts otherwise on the other. */
export function startMarks(rows: Iterable<WorkloadVerdict>, side: "changed" | "without", tickMs: number, x: Scale): LaneMark[] {
  const starts = [...rows].filter((row) => row.start !== "same").flatMap((row) => {
    const at = row[side]?.startedMs ?? null;
    return at === null ? [] : [[Math.floor(at / tickMs), undefined] as const];
  });
  return merged(starts, x);
}
