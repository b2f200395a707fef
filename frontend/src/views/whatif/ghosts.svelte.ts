// What draws the other side of a pair: loaded once with its words, so that a ghost comes with the number beside it.

import { withWords } from "@/lib/words.svelte";
import type * as Parts from "@/views/whatif/ghostParts";

class GhostParts {
  loaded = $state.raw<typeof Parts | null>(null);
}
export const ghostParts = new GhostParts();

/** Load the parts, when a pair is first drawn. */
export async function loadGhostParts(): Promise<void> {
  ghostParts.loaded ??= await withWords(import("@/views/whatif/ghostParts"));
}
