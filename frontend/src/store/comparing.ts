// Two branches of one run: deltas, who fares differently, where they part; pure.

import { amount } from "@/lib/amounts";
import type { Sample, WorkloadRow } from "@/protocol/wire";

export interface Delta {
  readonly id:
    | "evictions"
    | "preemptions"
    | "meanWait"
    | "p95Wait"
    | "utilisation"
    | "admitted"
    | "pending"
    | "finished";
  readonly a: number;
  readonly b: number;
  readonly better: "less" | "more" | "none";
}

export interface Fare {
  readonly key: string;
  readonly a: WorkloadRow | undefined;
  readonly b: WorkloadRow | undefined;
  readonly outcome: "earlier" | "later" | "same";
}

interface Side {
  readonly samples: readonly Sample[];
  readonly workloads: readonly WorkloadRow[];
  readonly nowMs: number;
}

/** Return the measures of two branches between two ticks, both counted alike. */
export function deltasOf(a: Side, b: Side, from: number, to: number, resource: string): Delta[] {
  const [one, two] = [measures(a, from, to, resource), measures(b, from, to, resource)];
  const delta = (id: Delta["id"], better: Delta["better"]): Delta => ({ id, a: one[id], b: two[id], better });
  return [
    delta("evictions", "less"),
    delta("preemptions", "less"),
    delta("meanWait", "less"),
    delta("p95Wait", "less"),
    delta("utilisation", "more"),
    delta("admitted", "more"),
    delta("finished", "more"),
    delta("pending", "less"),
  ];
}

function measures(side: Side, from: number, to: number, resource: string): Record<Delta["id"], number> {
  const samples = side.samples.filter((sample) => sample.tick > from && sample.tick <= to);
  const sum = (pick: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + pick(sample), 0);
  const waits = side.workloads.map((row) => waitOf(row, side.nowMs)).sort((x, y) => x - y);
  const last = samples.at(-1);
  return {
    evictions: sum((sample) => sample.evictions + sample.preemptions),
    preemptions: sum((sample) => sample.preemptions),
    meanWait: waits.length === 0 ? 0 : waits.reduce((total, wait) => total + wait, 0) / waits.length,
    p95Wait: waits[Math.max(0, Math.ceil(waits.length * 0.95) - 1)] ?? 0,
    utilisation: samples.length === 0 ? 0 : sum((sample) => loadOf(sample, resource)) / samples.length,
    admitted: last?.admitted ?? 0,
    finished: last?.finished ?? 0,
    pending: last?.pending ?? 0,
  };
}

// From creation to the admission that holds now; still waiting counts up to now.
function waitOf(row: WorkloadRow, nowMs: number): number {
  return Math.max(0, (row.admittedMs ?? nowMs) - row.createdMs);
}

function loadOf(sample: Sample, resource: string): number {
  const all = amount(sample.capacity[resource]);
  return all === 0 ? 0 : (100 * amount(sample.used[resource])) / all;
}

/** Return the workloads that are not in the same place in both branches. */
export function fares(a: readonly WorkloadRow[], b: readonly WorkloadRow[]): Fare[] {
  const [left, right] = [byKey(a), byKey(b)];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  return keys
    .map((key) => fareOf(key, left.get(key), right.get(key)))
    .filter((fare) => fare.outcome !== "same" || differs(fare.a, fare.b));
}

function byKey(rows: readonly WorkloadRow[]): Map<string, WorkloadRow> {
  return new Map(rows.map((row) => [row.key, row]));
}

function differs(a: WorkloadRow | undefined, b: WorkloadRow | undefined): boolean {
  return a?.phase !== b?.phase || a?.evictions !== b?.evictions || a?.admittedMs !== b?.admittedMs;
}

function fareOf(key: string, a: WorkloadRow | undefined, b: WorkloadRow | undefined): Fare {
  const [one, two] = [rankOf(a), rankOf(b)];
  return { key, a, b, outcome: one === two ? "same" : two < one ? "earlier" : "later" };
}

// Earlier is better: finished, then admitted by when, then waiting.
function rankOf(row: WorkloadRow | undefined): number {
  if (row === undefined) return Infinity;
  if (row.phase === "finished") return row.endsMs ?? 0;
  if (row.phase === "admitted") return 1e12 + (row.admittedMs ?? 0);
  return row.phase === "reserved" ? 2e12 : 3e12;
}

/** Return the first tick at which two branches differ, or null. */
export function firstDifference(a: readonly Sample[], b: readonly Sample[], from: number): number | null {
  const others = new Map(b.map((sample) => [sample.tick, sample]));
  for (const sample of a) {
    const other = others.get(sample.tick);
    if (sample.tick <= from || other === undefined) continue;
    if (JSON.stringify({ ...sample, tMs: 0 }) !== JSON.stringify({ ...other, tMs: 0 })) return sample.tick;
  }
  return null;
}
