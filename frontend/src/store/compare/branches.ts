// The branches of one run: which sandboxes came from which, and running some together.

import { request } from "@/net/rest";
import { attempt } from "@/store/live/intents";
import type { Sandbox } from "@/protocol/types";

/** Return the sandboxes that share an ancestor with one, itself included. */
export function familyOf(all: readonly Sandbox[], id: string): Sandbox[] {
  const root = rootOf(all, id);
  return all.filter((one) => rootOf(all, one.id) === root);
}

function rootOf(all: readonly Sandbox[], id: string): string {
  const parent = all.find((one) => one.id === id)?.parent ?? null;
  return parent === null || !all.some((one) => one.id === parent) ? id : rootOf(all, parent);
}

/** Run branches to one tick, at full speed. */
export async function runAll(ids: readonly string[], untilTick: number): Promise<void> {
  await attempt(async () => {
    for (const id of ids) {
      await request("POST", `/sandboxes/${id}/actions/speed`, { body: { speed: 0 } });
      await request("POST", `/sandboxes/${id}/actions/step`, { body: { untilTick } });
    }
  });
}
