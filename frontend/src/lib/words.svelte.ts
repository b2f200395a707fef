// The translation catalogue: every string of the page, with plurals and numbers.

import { EN, type Words } from "@/lib/catalogue/en";
import { keep, kept, whenKept } from "@/lib/keep";

export const LANGUAGES = ["en", "zh-Hans", "zh-Hant"] as const;
export type Language = (typeof LANGUAGES)[number];
export type Word = keyof Words;
export type Holes = Readonly<Record<string, string | number>>;

const MOST_ASKED = 5000;

class Speech {
  language = $state<Language>("en");
  words = $state.raw<Partial<Words>>(EN);
  readonly plural = $derived(new Intl.PluralRules(this.language));
}

const speech = new Speech();
let later: Partial<Words> = {}; // of English; whoever needs them awaits `withWords` first
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
  const forms = formsOf(speech.words, word);
  const form = forms.length === 1 ? forms[0] : forms.at(pluralOf(holes["n"]));
  return form === undefined ? word : filled(form, holes);
}

/** Return a text that is written in several languages: in that of the page, else in English, else in any. */
export function translated(texts: Readonly<Record<string, string>>, otherwise = ""): string {
  return texts[speech.language] ?? texts["en"] ?? Object.values(texts)[0] ?? otherwise;
}

/** Return what the catalogue says of a code of the server's; the server's own words where it says nothing. */
export function tOr(word: string, own: string, holes: Holes = {}): string {
  const known = speech.words[word as Word] ?? later[word as Word];
  return known === undefined ? own : t(word as Word, holes);
}

// A sentence cut at its holes: text, name of a hole, text, and so on.
type Form = readonly string[];
const cut = new WeakMap<Partial<Words>, Map<Word, readonly Form[]>>();

function formsOf(words: Partial<Words>, word: Word): readonly Form[] {
  let known = cut.get(words);
  if (known === undefined) cut.set(words, (known = new Map<Word, readonly Form[]>()));
  let forms = known.get(word);
  if (forms === undefined) {
    const text = words[word] ?? later[word];
    if (text === undefined) return [[word]];
    forms = text.split("|").map((form) => form.split(/\{(\w+)\}/));
    known.set(word, forms);
  }
  return forms;
}

// Plural rules are slow to ask; the counts of a page are few and come again.
const asked = new Map<string, 0 | -1>();

function pluralOf(hole: string | number | undefined): 0 | -1 {
  const count = typeof hole === "number" ? hole : 1;
  const id = `${speech.language} ${count}`;
  let form = asked.get(id);
  if (form === undefined) {
    form = speech.plural.select(count) === "one" ? 0 : -1;
    if (asked.size < MOST_ASKED) asked.set(id, form);
  }
  return form;
}

function filled(form: Form, holes: Holes): string {
  let sentence = "";
  for (let at = 0; at < form.length; at++) {
    const part = form[at] ?? "";
    sentence += at % 2 === 0 ? part : fill(holes[part]);
  }
  return sentence;
}

function fill(value: string | number | undefined): string {
  return typeof value === "number" ? formatNumber(value) : (value ?? "");
}

/** Return a number as the language writes it, with at most `digits` decimals. */
export function formatNumber(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  // Whole numbers below the first grouping mark look alike in all three languages.
  if (Number.isInteger(value) && value > -1000 && value < 1000) {
    return value < 0 ? `−${-value}` : String(value);
  }
  const id = `${speech.language}/${digits}`;
  const format = numbers.get(id) ?? remember(id, digits);
  const text = format.format(value);
  return value > 0 ? text : text.replace("-", "−");
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
  await use(next);
  keep("language", next);
}

/** Begin with the reader's language and follow what is chosen in other windows; call once. */
export async function startLanguage(): Promise<void> {
  whenKept("language", () => void use(preferredLanguage()));
  await use(preferredLanguage());
}

/** Load a part of the page together with its words. */
export async function withWords<T>(loading: Promise<T>): Promise<T> {
  const [part, { EN_LATER }] = await Promise.all([loading, import("@/lib/catalogue/en-later")]);
  later = EN_LATER;
  return part;
}

async function use(next: Language): Promise<void> {
  speech.words = await load(next);
  speech.language = next;
  document.documentElement.lang = next;
}

async function load(next: Language): Promise<Partial<Words>> {
  switch (next) {
    case "en":
      return EN;
    case "zh-Hans":
      return (await import("@/lib/catalogue/zh-hans")).ZH_HANS;
    case "zh-Hant":
      return (await import("virtual:zh-hant")).ZH_HANT;
  }
}

/** Return the language that the reader chose here, else the browser's. */
function preferredLanguage(): Language {
  const wanted = [kept("language") ?? "", ...navigator.languages];
  for (const tag of wanted) {
    if (/^zh\b.*(hant|tw|hk|mo)/i.test(tag)) return "zh-Hant";
    if (/^zh\b/i.test(tag)) return "zh-Hans";
    if (/^en\b/i.test(tag)) return "en";
  }
  return "en";
}
