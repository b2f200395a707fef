// Names in a row, as a sentence lists them.

import { t } from "@/lib/words.svelte";

const MOST = 3; // of a list; the rest is a number

/** Return "a, b, c and 4 more". */
export function listed(names: readonly string[]): string {
  const rest = names.length - MOST;
  return rest > 0 ? t("search.more", { names: names.slice(0, MOST).join(", "), n: rest }) : names.join(", ");
}
