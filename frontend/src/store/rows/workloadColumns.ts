// The columns of the table of workloads: one descriptor each, with its word, order, cell and values in CSV; pure.

import { amount, mainResource, orderResources, quantity } from "@/lib/amounts";
import { span } from "@/lib/times";
import { formatNumber, type Word } from "@/lib/words.svelte";
import type { WorkloadRow } from "@/protocol/types";
import { displayName } from "@/store/rows/cards";
import { valueOf, waitOf } from "@/store/rows/workloadTable";

type Of<Value> = (row: WorkloadRow, nowMs: number) => Value;

interface Said {
  readonly word: Word;
  readonly width: number; // about how wide it is, in px
  readonly spared?: number; // where there is no room, the lowest of these goes first; a column without it stays
  readonly first?: true; // of those that a phone shows before the table is scrolled
  readonly number?: true; // aligned as numbers are
  readonly sort: Of<string | number>;
  readonly csv: Readonly<Record<string, Of<string>>>; // by the heading
}

/** A cell is a text, with the name of the fact it shows, or `WorkloadLine.svelte` draws it. */
export type Column = Said & ({ readonly text: Of<string>; readonly fact: string } | { readonly drawn: true });

/** Return what the pods of a workload ask for in all, GPUs first. */
function resources(row: WorkloadRow): string {
  const names = orderResources(Object.keys(row.totals)).filter((name) => name !== "pods");
  return names.map((name) => quantity(name, amount(row.totals[name]))).join(", ");
}

export const COLUMNS = {
  name: {
    word: "work.name", width: 220, first: true, drawn: true,
    sort: displayName,
    csv: { name: displayName, workload: (row) => row.name },
  },
  queue: {
    word: "work.queue", width: 110, drawn: true,
    sort: (row) => valueOf(row, "queue"),
    csv: { clusterQueue: (row) => row.clusterQueue },
  },
  user: {
    word: "work.user", width: 150, spared: 1, drawn: true,
    sort: (row) => valueOf(row, "user"),
    csv: { namespace: (row) => row.namespace },
  },
  phase: {
    word: "work.phase", width: 110, drawn: true,
    sort: (row) => valueOf(row, "phase"),
    csv: { phase: (row) => row.phase },
  },
  resources: {
    word: "work.resources", width: 165, spared: 4,
    sort: (row) => amount(row.totals[mainResource(row.totals)]),
    text: resources, fact: "amounts totals",
    csv: { resources },
  },
  wait: {
    word: "work.wait", width: 95, first: true, number: true,
    sort: waitOf,
    text: (row, nowMs) => span(waitOf(row, nowMs)), fact: "wait",
    csv: { waitSeconds: (row, nowMs) => String(Math.round(waitOf(row, nowMs) / 1000)) },
  },
  priority: {
    word: "work.priority", width: 70, spared: 3, number: true,
    sort: (row) => row.priority,
    text: (row) => formatNumber(row.priority), fact: "at priority",
    csv: { priority: (row) => String(row.priority) },
  },
  reason: {
    word: "work.reason", width: 160, first: true, drawn: true,
    sort: (row) => row.reason,
    csv: { reason: (row) => row.reason, message: (row) => row.message },
  },
  evictions: {
    word: "work.evictions", width: 70, spared: 2, number: true,
    sort: (row) => row.evictions,
    text: (row) => (row.evictions === 0 ? "" : formatNumber(row.evictions)), fact: "at evictions",
    csv: { evictions: (row) => String(row.evictions) },
  },
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnName = keyof typeof COLUMNS;
/** The columns that `WorkloadLine.svelte` draws. */
export type DrawnName = { [Name in ColumnName]: (typeof COLUMNS)[Name] extends { drawn: true } ? Name : never }[ColumnName];

export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[];
const NARROW = 560; // px; below it a table shows three columns before it is scrolled
const REST = 30; // px; the boxes to tick

/** Return a column as any of them. */
export function columnOf(name: ColumnName): Column {
  return COLUMNS[name];
}

/** Return the columns in their order: those that fit beside `others` pixels; on a phone all, and who waits, how long and why come first. */
export function columnsAt(width: number, others = 0): readonly ColumnName[] {
  if (width === 0) return COLUMN_NAMES;
  if (width <= NARROW) return COLUMN_NAMES.toSorted((a, b) => Number(columnOf(b).first ?? false) - Number(columnOf(a).first ?? false));
  let left = COLUMN_NAMES;
  const taken = (): number => left.reduce((sum, name) => sum + columnOf(name).width, REST + others);
  const spared = COLUMN_NAMES.filter((name) => columnOf(name).spared !== undefined);
  for (const name of spared.toSorted((a, b) => (columnOf(a).spared ?? 0) - (columnOf(b).spared ?? 0))) {
    if (taken() > width) left = left.filter((one) => one !== name);
  }
  return left;
}

/** Return rows in an order; `descending` turns it round, names stay rising among equals. */
export function sorted(rows: readonly WorkloadRow[], by: ColumnName, descending: boolean, nowMs: number): WorkloadRow[] {
  const keys = new Map(rows.map((row) => [row, columnOf(by).sort(row, nowMs)]));
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [keys.get(a) ?? 0, keys.get(b) ?? 0];
    if (left !== right) return left < right ? -sign : sign;
    return a.key < b.key ? -1 : 1;
  });
}

/** Return rows as lines of CSV, with all columns, below their headings. */
export function csvLines(rows: readonly WorkloadRow[], nowMs: number): string[][] {
  const values = COLUMN_NAMES.flatMap((name) => Object.entries(columnOf(name).csv));
  return [values.map(([heading]) => heading), ...rows.map((row) => values.map(([, value]) => value(row, nowMs)))];
}
