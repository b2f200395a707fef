// Columns under their cohorts, in the order of the tree; pure.

import { clusterOf } from "@/store/rows/clusters";
import type { Branch } from "@/store/rows/quota";

export interface CohortColumns {
  readonly name: string; // of the cohort, else of the worker cluster, or ""
  readonly cluster: string; // the worker cluster, or ""
  readonly columns: readonly string[];
}

/** Return the columns parted by the cohort that their queue hangs in. */
export function cohortsOf(columns: readonly string[], tree: readonly Branch[]): CohortColumns[] {
  const parents = new Map(tree.map(({ row, parent }) => [row.key, parent.slice("Cohort//".length)]));
  const found = new Map<string, string[]>();
  for (const key of columns) {
    const name = parents.get(key) || clusterOf(key.split("/").at(-1) ?? "");
    const there = found.get(name);
    if (there === undefined) found.set(name, [key]);
    else there.push(key);
  }
  return [...found].map(([name, keys]) => ({ name, cluster: clusterOf(keys[0]?.split("/").at(-1) ?? ""), columns: keys }));
}
