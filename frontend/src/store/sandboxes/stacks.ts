// Which schedulers a run has, in words.

import type { Word } from "@/lib/words.svelte";

/** Return the word of a stack, for chips and filters. */
export function stackWord(stack: string): Word {
  if (stack === "yunikorn") return "start.stack.yunikorn";
  return stack === "kube" ? "start.stack.kube" : "start.stack.kueue";
}
