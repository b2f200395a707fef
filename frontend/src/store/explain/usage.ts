// What the LocalQueues of a ClusterQueue have consumed, as admission fair sharing orders them.

import type { UsageRow } from "@/protocol/types";
import { explain } from "@/store/explain/explaining";
import type { Lists } from "@/store/rows/columns.svelte";

/** Return the key of a workload whose explanation has the usage: who waits before who runs; undefined when all of its ClusterQueue have finished. */
export function witnessOf({ waiting, reserved, admitted, inactive }: Lists): string | undefined {
  return waiting[0] ?? reserved[0] ?? admitted[0] ?? inactive[0];
}

/** Return the LocalQueues of a workload's ClusterQueue, least used first; none where it does not order by usage. */
export async function fetchUsage(sandbox: string, key: string, tick: number | null): Promise<readonly UsageRow[]> {
  return (await explain(sandbox, key, tick)).usage;
}

/** Return amounts by resource as one text; "0" where nothing is left. */
export function amountsText(amounts: Readonly<Record<string, string>>): string {
  return Object.entries(amounts).map(([name, amount]) => `${name} ${amount}`).join(", ") || "0";
}
