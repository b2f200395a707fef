// Asking why and what if: the server runs each answer, the page only shows it.

import { ask } from "@/net/rest";
import type { Counterfactuals, Explanation } from "@/protocol/types";

function pathOf(sandbox: string, key: string): string {
  const [, namespace = "", name = ""] = key.split("/");
  return `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
}

/** Ask why a workload is where it is, now or at a tick of the past. */
export function explain(sandbox: string, key: string, tick: number | null): Promise<Explanation> {
  return ask("Explanation", "GET", pathOf(sandbox, key), { query: { tick } });
}

/** Ask what would let a workload in; every verdict was run on a copy of the world. */
export function counterfactuals(
  sandbox: string,
  key: string,
  tick: number | null,
  signal: AbortSignal,
): Promise<Counterfactuals> {
  return ask("Counterfactuals", "GET", `${pathOf(sandbox, key)}/counterfactuals`, { query: { tick }, signal });
}
