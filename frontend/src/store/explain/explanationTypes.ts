// Explanations as the server gives them, each field checked where it comes in.

import { list, number, record, text, type Json } from "@/net/rest";

export interface Held {
  readonly resource: string;
  readonly flavor: string;
  readonly amount: number;
  readonly available: number; // of a room; 0 where there is none
}
export interface NodeShare {
  readonly kind: string;
  readonly name: string;
  readonly share: number; // Infinity for a borrower of weight 0
}
export interface ShareChange {
  readonly kind: string;
  readonly name: string;
  readonly before: number;
  readonly after: number;
}
export interface Victim {
  readonly workload: string;
  readonly queue: string;
  readonly reason: string;
  readonly priority: number;
  readonly held: readonly Held[];
  readonly lostMs: number;
}
export interface Test {
  readonly kind: string;
  readonly ours: number;
  readonly before: number;
  readonly after: number;
  readonly rule: number | null;
  readonly priority: number | null;
  readonly below: number | null;
}
export interface Step {
  readonly kind: string;
  readonly headline: string;
  readonly sentence: string;
  readonly workload: string;
  readonly queue: string;
  readonly verdict: string;
  readonly reason: string;
  readonly priority: number | null;
  readonly reservedMs: number | null;
  readonly held: readonly Held[];
  readonly room: readonly Held[];
  readonly test: Test | null;
  readonly shares: readonly NodeShare[];
}
export interface Source {
  readonly queue: string;
  readonly relation: string;
  readonly policy: string;
  readonly holders: number;
  readonly candidates: number;
  readonly why: string;
}
export interface Search {
  readonly law: string;
  readonly rules: readonly string[];
  readonly requests: readonly Held[];
  readonly sources: readonly Source[];
  readonly steps: readonly Step[];
}
export interface Preemption {
  readonly preemptor: string;
  readonly queue: string;
  readonly tick: number;
  readonly search: Search;
  readonly shares: readonly ShareChange[];
  readonly targets: readonly Victim[];
  readonly reason: string;
}

/** Return the rows of a list, each as an object; an absent list is empty. */
export function rowsOf(value: unknown): Json[] {
  return list(value ?? []).map(record);
}

// None travels as null and means a share without end.
function share(value: unknown): number {
  return value === null || value === undefined ? Infinity : number(value);
}
function maybe(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

export function heldOf(item: Json): Held {
  return {
    resource: text(item["resource"]),
    flavor: text(item["flavor"]),
    amount: Number(text(item["amount"])),
    available: Number(text(item["available"]) || "0"),
  };
}

export function shareChangeOf(item: Json): ShareChange {
  return {
    kind: text(item["kind"]),
    name: text(item["name"]),
    before: share(item["before"]),
    after: share(item["after"]),
  };
}

export function victimOf(item: Json): Victim {
  return {
    workload: text(item["workload"]),
    queue: text(item["queue"]),
    reason: text(item["reason"]),
    priority: number(item["priority"]),
    held: rowsOf(item["held"]).map(heldOf),
    lostMs: number(item["workLostMs"]),
  };
}

function testOf(value: unknown): Test | null {
  if (value === null || value === undefined) return null;
  const item = record(value);
  return {
    kind: text(item["kind"]),
    ours: share(item["preemptorShare"]),
    before: share(item["targetShareBefore"]),
    after: share(item["targetShareAfter"]),
    rule: maybe(item["rule"]),
    priority: maybe(item["priority"]),
    below: maybe(item["below"]),
  };
}

function stepOf(item: Json): Step {
  return {
    kind: text(item["kind"]),
    headline: text(item["headline"]),
    sentence: text(item["sentence"]),
    workload: text(item["workload"]),
    queue: text(item["queue"]),
    verdict: text(item["verdict"]),
    reason: text(item["reason"]),
    priority: maybe(item["priority"]),
    reservedMs: maybe(item["reservedMs"]),
    held: rowsOf(item["held"]).map(heldOf),
    room: rowsOf(item["quotaChecks"]).map(heldOf),
    test: testOf(item["test"]),
    shares: rowsOf(item["shares"]).map((row) => ({
      kind: text(row["kind"]),
      name: text(row["name"]),
      share: share(row["share"]),
    })),
  };
}

export function searchOf(item: Json): Search {
  return {
    law: text(item["law"]),
    rules: list(item["rules"] ?? []).map(text),
    requests: rowsOf(item["requests"]).map(heldOf),
    sources: rowsOf(item["sources"]).map((row) => ({
      queue: text(row["queue"]),
      relation: text(row["relation"]),
      policy: text(row["policy"]),
      holders: number(row["holders"]),
      candidates: number(row["candidates"]),
      why: text(row["why"]),
    })),
    steps: rowsOf(item["steps"]).map(stepOf),
  };
}

export function preemptionOf(item: Json): Preemption {
  return {
    preemptor: text(item["preemptor"]),
    queue: text(item["queue"]),
    tick: number(item["tick"]),
    search: searchOf(record(item["search"])),
    shares: rowsOf(item["shares"]).map(shareChangeOf),
    targets: rowsOf(item["targets"]).map(victimOf),
    reason: text(item["reason"]),
  };
}
