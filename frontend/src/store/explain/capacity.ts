// Nodes that come and go: what they cost, and why none comes, as the server says at a tick.

import { ask } from "@/net/rest";
import type { Capacity } from "@/protocol/types";

/** Return groups and pools, their cost, and why none grows for the pods that wait. */
export async function fetchCapacity(id: string, tick: number | null): Promise<Capacity> {
  return await ask("Capacity", "GET", `/sandboxes/${id}/capacity`, { query: { tick } });
}
