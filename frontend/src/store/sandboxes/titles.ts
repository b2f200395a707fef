// Texts that scenarios carry in several languages.

import type { Word } from "@/lib/words.svelte";

/** Language -> text. */
export type Titles = Readonly<Record<string, string>>;

/** Return the text in a language, else in English, else what stands in for it. */
export function titleIn(titles: Titles, language: string, otherwise: string): string {
  return titles[language] ?? titles["en"] ?? Object.values(titles)[0] ?? otherwise;
}

/** Return the word of a stack, for chips and filters. */
export function stackWord(stack: string): Word {
  if (stack === "yunikorn") return "start.stack.yunikorn";
  return stack === "kube" ? "start.stack.kube" : "start.stack.kueue";
}
