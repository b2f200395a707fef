// What strategies and plug-ins are called and do, in the reader's language.
// One that a distribution of somebody else's brought is said in its own words.

import { tOr } from "@/lib/words.svelte";
import type { Entry } from "@/protocol/types";

/** Return what a strategy or plug-in does; "" where there is none. */
export function helpOf(one: Entry | undefined): string {
  return one === undefined ? "" : tOr(`registry.help.${one.family}.${one.name}`, one.help);
}

/** Return what a strategy or plug-in is called; "" where there is none. */
export function labelOf(one: Entry | undefined): string {
  return one === undefined ? "" : tOr(`registry.label.${one.family}.${one.name}`, one.label);
}
