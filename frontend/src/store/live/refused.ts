// What the server refuses, in the reader's language: the words come with the first refusal.

import { withWords } from "@/lib/words.svelte";
import { speaker } from "@/net/rest";
import type { Saying } from "@/store/live/said";

/** Have refusals with a code said in the reader's language; call once. */
export function startSaying(): void {
  speaker.says = async (said, own) => {
    const { saidText } = await withWords(import("@/store/live/said"));
    return saidText(said as Saying, own);
  };
}
