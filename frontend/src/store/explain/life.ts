// The stops of a workload's life, in the order in which they came; pure.

import { tickOf } from "@/lib/times";
import type { EventLine, WorkloadRow } from "@/protocol/types";

export type StopName = "created" | "reserved" | "admitted" | "ready" | "evicted" | "requeued" | "finished";

export interface LifeStop {
  readonly name: StopName;
  readonly tick: number | null; // null: not reached, or too long ago to know
  readonly reached: boolean;
  readonly now: boolean;
}

const RUN: readonly StopName[] = ["reserved", "admitted", "ready"];
const AWAY: readonly StopName[] = ["evicted", "requeued"];

/** Return the seven stops. An eviction that is over stands before the run that came after it.
 *
 * `own` are the events about this workload, oldest first, up to the tick that is shown.
 */
export function lifeOf(row: WorkloadRow, own: readonly EventLine[], tickMs: number): readonly LifeStop[] {
  const ticks = ticksOf(row, own, tickMs);
  const back = row.reservedMs !== null || row.phase === "finished";
  const order: readonly StopName[] = ["created", ...(back && row.evictions > 0 ? [...AWAY, ...RUN] : [...RUN, ...AWAY]), "finished"];
  const now = nowOf(row);
  return order.map((name) => ({ name, tick: ticks[name], now: name === now, reached: name === now || ticks[name] !== null || passed(row, name) }));
}

function ticksOf(row: WorkloadRow, own: readonly EventLine[], tickMs: number): Record<StopName, number | null> {
  const at = (ms: number | null | undefined): number | null => (ms === null || ms === undefined ? null : tickOf(ms, tickMs));
  const since = (type: string): number | null => at(row.conditions.find((one) => one.type === type && one.status)?.sinceMs);
  const last = (...types: readonly string[]): number | null => own.findLast((event) => types.includes(event.type))?.tick ?? null;
  const evicted = row.evictions > 0 ? (since("Evicted") ?? last("Preempt", "Evict")) : null;
  const admit = row.evictions > 0 || row.phase === "finished" ? last("Admit") : null;
  return {
    created: at(row.createdMs),
    reserved: at(row.reservedMs) ?? admit,
    admitted: at(row.admittedMs) ?? admit,
    ready: at(row.readyMs) ?? since("PodsReady"),
    evicted,
    requeued: row.evictions > 0 ? requeuedAt(since("Requeued") ?? last("Requeue"), evicted) : null,
    finished: since("Finished") ?? (row.phase === "finished" ? (last("Finish") ?? at(row.endsMs)) : null),
  };
}

// The condition keeps the time of the first requeue; later ones are as late as their eviction.
function requeuedAt(since: number | null, evicted: number | null): number | null {
  return since === null ? null : Math.max(since, evicted ?? since);
}

function nowOf(row: WorkloadRow): StopName {
  if (row.phase === "reserved" || row.phase === "finished") return row.phase;
  if (row.phase === "admitted") return row.readyMs === null ? "admitted" : "ready";
  if (row.evictions === 0) return "created";
  const requeued = row.conditions.find((one) => one.type === "Requeued")?.status ?? true;
  return row.phase === "inactive" || !requeued ? "evicted" : "requeued";
}

// Who was evicted had been admitted, also where the tick of it is no longer at hand.
function passed(row: WorkloadRow, name: StopName): boolean {
  return row.evictions > 0 && ["created", "reserved", "admitted", "evicted"].includes(name);
}
