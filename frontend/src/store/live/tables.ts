// Tables of a sandbox: sorted, searched, filtered and paged by the server.

import { ask, type Json } from "@/net/rest";
import type { AnyRow } from "@/protocol/types";
import type { RowKind } from "@/protocol/rows";

export const TABLES = {
  workloads: ["name", "namespace", "clusterQueue", "phase", "priority", "reason", "createdMs", "admittedMs", "evictions"],
  pods: ["name", "namespace", "node", "phase", "queue", "priority", "reason"],
  nodes: ["name", "state", "flavor", "pods"],
  clusterqueues: ["name", "cohort", "queueingStrategy", "stopPolicy", "share", "weight", "active"],
  localqueues: ["name", "namespace", "clusterQueue", "active"],
  cohorts: ["name", "parent", "share", "weight"],
  resourceflavors: ["name"],
  multikueueclusters: ["name", "active", "reason", "message", "sinceMs"],
  queues: ["name", "parent", "share", "sortPolicy", "applications"],
  applications: ["name", "queue", "state", "user", "submittedMs", "asks", "allocations"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type TableName = keyof typeof TABLES;

/** Columns whose values are few: they can be filtered and grouped by. */
export const GROUPED: ReadonlySet<string> = new Set([
  "namespace", "clusterQueue", "phase", "state", "flavor", "node", "queue", "cohort", "active",
]);

export type TableRow = Json;

export interface TablePage {
  readonly rows: readonly TableRow[];
  readonly total: number;
  readonly groups: ReadonlyMap<string, number>; // value -> rows, of all that match
}

export interface TableAsk {
  readonly search: string;
  readonly sort: string; // field, or -field
  readonly group: string; // field, or ""
  readonly offset: number;
  readonly limit: number;
  readonly tick: number | null;
  readonly filters: Readonly<Record<string, string>>;
}

/** Return one page of a table. */
export async function fetchTable(id: string, name: TableName, asked: TableAsk): Promise<TablePage> {
  const { search, sort, group, offset, limit, tick, filters } = asked;
  const query = { search, sort, group, offset, limit, tick, ...filters };
  const { items, groups, total } = await ask("Table", "GET", `/sandboxes/${id}/tables/${name}`, { query });
  return { rows: items, total, groups: new Map(groups.map((one) => [one.value, one.count])) };
}

const KINDS: Readonly<Record<TableName, RowKind>> = {
  workloads: "Workload",
  pods: "Pod",
  nodes: "Node",
  clusterqueues: "ClusterQueue",
  localqueues: "LocalQueue",
  cohorts: "Cohort",
  resourceflavors: "ResourceFlavor",
  multikueueclusters: "MultiKueueCluster",
  queues: "Queue",
  applications: "Application",
};
const MOST_VALUES = 200;

/** Return the values that a column has now, for its filter. O(rows). */
export function valuesOf(rows: ReadonlyMap<string, AnyRow>, name: TableName, column: string): string[] {
  const found = new Set<string>();
  for (const row of rows.values()) {
    if (row.kind !== KINDS[name] || !(column in row)) continue;
    const value: unknown = row[column as keyof AnyRow];
    if (typeof value === "string" && value !== "") found.add(value);
    if (found.size >= MOST_VALUES) break;
  }
  return [...found].sort();
}
