// What decides over an object, nearest first: itself, its queue, the cohorts above it, then the policy.

import type { RowStore } from "@/store/rows/rowStore.svelte";

const MOST = 12; // a loop of cohorts ends

/** Return the keys of what has fields that decide over a key. */
export function causesOf(key: string | null, rows: RowStore): string[] {
  if (key === null) return [];
  const row = rows.row(key);
  if (row === undefined) return [];
  switch (row.kind) {
    case "Workload":
      return [...queueChain(row.clusterQueue, rows), key];
    case "ClusterQueue":
      return queueChain(row.name, rows);
    case "Cohort":
      return cohortChain(row.name, rows);
    case "Pod":
      return [key, ...(row.node === "" ? [] : [`Node//${row.node}`])].filter((one) => rows.row(one) !== undefined);
    default:
      return [key];
  }
}

function queueChain(name: string, rows: RowStore): string[] {
  const queue = rows.get("ClusterQueue", `ClusterQueue//${name}`);
  return queue === undefined ? [] : [queue.key, ...cohortChain(queue.cohort, rows)];
}

function cohortChain(name: string, rows: RowStore): string[] {
  const chain: string[] = [];
  for (let at = name; at !== "" && chain.length < MOST; ) {
    const cohort = rows.get("Cohort", `Cohort//${at}`);
    if (cohort === undefined || chain.includes(cohort.key)) break;
    chain.push(cohort.key);
    at = cohort.parent;
  }
  return chain;
}
