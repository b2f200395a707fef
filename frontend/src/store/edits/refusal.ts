// Where what is carried may not go.

import type { Carried } from "@/lib/drag.svelte";
import { t } from "@/lib/words.svelte";

/** Why something may not be dropped on a queue, or "". */
export function refusalOf(carried: Carried, queueKey: string): string {
  if (carried.from === queueKey) return t("drag.sameQueue");
  return queueKey.startsWith("ClusterQueue/") ? "" : t("drag.noQueue");
}
