// The translation catalogue: every string of the page, with plurals and numbers.

import { EN, type Words } from "@/lib/catalogue/en";
import { keep, kept } from "@/lib/keep";

export const LANGUAGES = ["en", "zh-Hans", "zh-Hant"] as const;
export type Language = (typeof LANGUAGES)[number];
export type Word = keyof Words;
export type Holes = Readonly<Record<string, string | number>>;

class Speech {
  language = $state<Language>("en");
  words = $state.raw<Words>(EN);
  readonly plural = $derived(new Intl.PluralRules(this.language));
}

const speech = new Speech();
const numbers = new Map<string, Intl.NumberFormat>();

/** Return the language in use; reactive. */
export function language(): Language {
  return speech.language;
}

/** Return a sentence of the catalogue with its holes filled.
 *
 * Forms are parted by "|": one | other in English, a single form in Chinese. The hole
 * `n` chooses the form; numbers are written as the language writes them.
 */
export function t(word: Word, holes: Holes = {}): string {
  const forms = speech.words[word].split("|");
  const count = typeof holes["n"] === "number" ? holes["n"] : 1;
  const form = (speech.plural.select(count) === "one" ? forms[0] : forms.at(-1)) ?? word;
  return form.replace(/\{(\w+)\}/g, (_, name: string) => fill(holes[name]));
}

function fill(value: string | number | undefined): string {
  return typeof value === "number" ? formatNumber(value) : (value ?? "");
}

/** Return a number as the language writes it, with at most `digits` decimals. */
export function formatNumber(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const id = `${speech.language}/${digits}`;
  const format = numbers.get(id) ?? remember(id, digits);
  return format.format(value).replace("-", "−");
}

function remember(id: string, digits: number): Intl.NumberFormat {
  const format = new Intl.NumberFormat(speech.language, { maximumFractionDigits: digits });
  numbers.set(id, format);
  return format;
}

/** Return a difference with its sign: "+8", "−3", "0". */
export function signed(value: number, digits = 0): string {
  return value > 0 ? `+${formatNumber(value, digits)}` : formatNumber(value, digits);
}

/** Change the language of the page, and remember it. */
export async function speak(next: Language): Promise<void> {
  speech.words = await load(next);
  speech.language = next;
  document.documentElement.lang = next;
  keep("language", next);
}

async function load(next: Language): Promise<Words> {
  switch (next) {
    case "en":
      return EN;
    case "zh-Hans":
      return (await import("@/lib/catalogue/zh-hans")).ZH_HANS;
    case "zh-Hant":
      return (await import("@/lib/catalogue/zh-hant")).ZH_HANT;
  }
}

/** Return the language that the reader chose here, else the browser's. */
export function preferredLanguage(): Language {
  const wanted = [kept("language") ?? "", ...navigator.languages];
  for (const tag of wanted) {
    if (/^zh\b.*(hant|tw|hk|mo)/i.test(tag)) return "zh-Hant";
    if (/^zh\b/i.test(tag)) return "zh-Hans";
    if (/^en\b/i.test(tag)) return "en";
  }
  return "en";
}
