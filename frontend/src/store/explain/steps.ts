// Where a preemption is shown step by step.

import { hrefOf } from "@/lib/address.svelte";

/** Return where a preemption of the events is shown step by step, at the tick that is shown. */
export function stepsHref(sandbox: string, event: { readonly revision: number; readonly seq: number }): string {
  const [path = "", query = ""] = hrefOf(sandbox, "preemptions").split("?");
  const asked = new URLSearchParams(query);
  asked.set("p", `${event.revision}.${event.seq}`);
  return `${path}?${asked.toString()}`;
}
