// Shares with the numbers they come from, as the server explains them at a tick.

import { flag, list, number, record, Refusal, request, text, type Json } from "@/net/rest";
import { heldOf, rowsOf, type Held } from "@/store/explain/explanationTypes";

export interface Fraction {
  readonly resource: string;
  readonly borrowed: number;
  readonly lendable: number;
  readonly ratio: number; // borrowed ÷ lendable × 1000
  readonly winning: boolean;
  readonly workloads: readonly string[]; // that hold it, largest first
}
export interface Formula {
  readonly kind: string;
  readonly name: string;
  readonly parent: string;
  readonly fractions: readonly Fraction[];
  readonly most: number;
  readonly weight: number;
  readonly share: number; // Infinity for a borrower of weight 0
}
export interface Lent {
  readonly cohort: string;
  readonly flavor: string;
  readonly resource: string;
  readonly lender: string;
  readonly lenderKind: string;
  readonly borrower: string;
  readonly borrowerKind: string;
  readonly amount: number;
}
/** A head of a queue, as the next cycle takes it: it was decided on a copy. */
export interface Head {
  readonly order: number;
  readonly workload: string; // key
  readonly queue: string;
  readonly shareAfter: number | null;
  readonly fate: string;
  readonly reason: string;
  readonly message: string;
  readonly targets: readonly string[];
}
export interface NextVictim {
  readonly tree: string;
  readonly flavor: string;
  readonly resource: string;
  readonly workload: string; // key
  readonly queue: string;
  readonly priority: number;
  readonly amount: number;
  readonly share: number;
}
export interface QueueFraction {
  readonly resource: string;
  readonly allocated: number;
  readonly whole: number;
  readonly of: string; // guaranteed or max
  readonly ratio: number;
  readonly winning: boolean;
}
/** A queue of YuniKorn. */
export interface QueueShare {
  readonly name: string;
  readonly parent: string;
  readonly leaf: boolean;
  readonly fractions: readonly QueueFraction[];
  readonly share: number;
  readonly priority: number;
  readonly order: number | null; // in the line of its parent; null waits for nothing
  readonly pending: readonly Held[];
  readonly next: string;
}
export interface Fairness {
  readonly tick: number;
  readonly fairSharing: boolean;
  readonly strategies: readonly string[];
  readonly formulas: readonly Formula[];
  readonly flows: readonly Lent[];
  readonly heads: readonly Head[];
  readonly victims: readonly NextVictim[];
  readonly queues: readonly QueueShare[];
  readonly laws: string;
}

/** Return who has what share and why; null where the stack shares nothing out. */
export async function fetchFairness(id: string, tick: number | null): Promise<Fairness | null> {
  try {
    return fairnessOf(record(await request("GET", `/sandboxes/${id}/fairness`, { query: { tick } })));
  } catch (error) {
    if (error instanceof Refusal && error.code === 422) return null;
    throw error;
  }
}

const endless = (value: unknown): number => (value === null || value === undefined ? Infinity : number(value));

function fairnessOf(item: Json): Fairness {
  return {
    tick: number(item["tick"]),
    fairSharing: flag(item["fairSharing"]),
    strategies: list(item["strategies"] ?? []).map(text),
    formulas: rowsOf(item["formulas"]).map(formulaOf),
    flows: rowsOf(item["flows"]).map(lentOf),
    heads: rowsOf(item["heads"]).map(headOf),
    victims: rowsOf(item["nextVictims"]).map(victimOf),
    queues: rowsOf(item["queues"]).map(queueOf),
    laws: text(item["laws"]),
  };
}

function formulaOf(item: Json): Formula {
  return {
    kind: text(item["kind"]),
    name: text(item["name"]),
    parent: text(item["parent"]),
    fractions: rowsOf(item["fractions"]).map((one) => ({
      resource: text(one["resource"]),
      borrowed: Number(text(one["borrowed"])),
      lendable: Number(text(one["lendable"])),
      ratio: number(one["ratio"]),
      winning: flag(one["winning"]),
      workloads: list(one["workloads"] ?? []).map(text),
    })),
    most: number(item["ratio"]),
    weight: number(item["weight"]),
    share: endless(item["share"]),
  };
}

function lentOf(item: Json): Lent {
  const [lender, borrower] = [record(item["lender"]), record(item["borrower"])];
  return {
    cohort: text(item["cohort"]),
    flavor: text(item["flavor"]),
    resource: text(item["resource"]),
    lender: text(lender["name"]),
    lenderKind: text(lender["kind"]),
    borrower: text(borrower["name"]),
    borrowerKind: text(borrower["kind"]),
    amount: Number(text(item["amount"])),
  };
}

function headOf(item: Json): Head {
  const after = item["shareAfter"];
  return {
    order: number(item["order"]),
    workload: text(item["workload"]),
    queue: text(item["queue"]),
    shareAfter: typeof after === "number" ? after : null,
    fate: text(item["status"]),
    reason: text(item["reason"]),
    message: text(item["message"]),
    targets: rowsOf(item["targets"]).map((one) => text(one["workload"])),
  };
}

function victimOf(item: Json): NextVictim {
  return {
    tree: text(item["tree"]),
    flavor: text(item["flavor"]),
    resource: text(item["resource"]),
    workload: text(item["workload"]),
    queue: text(item["queue"]),
    priority: number(item["priority"]),
    amount: Number(text(item["amount"])),
    share: endless(item["share"]),
  };
}

function queueOf(item: Json): QueueShare {
  return {
    name: text(item["name"]),
    parent: text(item["parent"]),
    leaf: flag(item["leaf"]),
    fractions: rowsOf(item["fractions"]).map((one) => ({
      resource: text(one["resource"]),
      allocated: Number(text(one["allocated"])),
      whole: Number(text(one["whole"])),
      of: text(one["of"]),
      ratio: number(one["ratio"]),
      winning: flag(one["winning"]),
    })),
    share: number(item["share"]),
    priority: number(item["priority"]),
    order: typeof item["order"] === "number" ? item["order"] : null,
    pending: rowsOf(item["pending"]).map(heldOf),
    next: text(item["next"]),
  };
}
