// Preemptions of a run: grouped by preemptor, counted by reason, loops found; pure.

import type { EventLine } from "@/protocol/types";

export interface PreemptionGroup {
  readonly id: string; // preemptor@tick
  readonly preemptor: string; // key
  readonly tick: number;
  readonly places: readonly string[]; // revision.seq of each victim's event
  readonly reason: string;
  readonly victims: readonly string[]; // keys
}

export interface Loop {
  readonly pair: readonly [string, string];
  readonly ticks: readonly number[];
}

const LOOP_TIMES = 3;
const LOOP_TICKS = 100;

/** Return one group per preemptor and tick, newest first. */
export function groupsOf(events: readonly EventLine[]): PreemptionGroup[] {
  const groups = new Map<string, PreemptionGroup>();
  for (const event of events) {
    if (event.type !== "Preempt") continue;
    const id = `${event.by}@${event.tick}`;
    const before = groups.get(id);
    groups.set(id, {
      id,
      preemptor: event.by,
      tick: event.tick,
      places: [...(before?.places ?? []), `${event.revision}.${event.seq}`],
      reason: before?.reason ?? event.reason,
      victims: [...(before?.victims ?? []), event.subject],
    });
  }
  return [...groups.values()].reverse();
}

/** Return how many victims each reason had, most first. */
export function reasonsOf(events: readonly EventLine[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.type === "Preempt") counts.set(event.reason, (counts.get(event.reason) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** Return pairs that preempted each other three times or more within 100 ticks. */
export function loopsOf(events: readonly EventLine[]): Loop[] {
  const ticks = new Map<string, { pair: [string, string]; ticks: number[]; sides: Set<string> }>();
  for (const event of events) {
    if (event.type !== "Preempt" || event.by === "") continue;
    const pair = [event.by, event.subject].sort() as [string, string];
    const id = pair.join(" ");
    const found = ticks.get(id) ?? { pair, ticks: [], sides: new Set<string>() };
    found.ticks.push(event.tick);
    found.sides.add(event.by);
    ticks.set(id, found);
  }
  return [...ticks.values()]
    .filter((one) => one.sides.size === 2 && isDense(one.ticks))
    .map(({ pair, ticks: seen }) => ({ pair, ticks: seen }));
}

function isDense(ticks: readonly number[]): boolean {
  return ticks.some((tick, at) => {
    const later = ticks[at + LOOP_TIMES - 1];
    return later !== undefined && later - tick <= LOOP_TICKS;
  });
}
