// A sentence of the server's by its code, in the reader's language.
// One whose code is not known here, or that came without, is said in the server's own words.

import { quantity } from "@/lib/amounts";
import { listed } from "@/lib/listed";
import { formatNumber, language, t, tOr, type Word } from "@/lib/words.svelte";
import type { EventLine } from "@/protocol/types";
import { displayNameOf } from "@/store/live/displayNames";

/** A sentence with its code, its English text, and what fills the holes of its words. */
export interface Saying {
  readonly code: string;
  readonly text: string;
  readonly holes: Readonly<Record<string, unknown>>;
}

const DIGITS = 3;

/** Return a sentence in the reader's language; `own`: what the server said without a code. */
export function saidText(said: Saying | null | undefined, own = ""): string {
  if (!said) return own;
  const holes = Object.entries(said.holes).map(([name, hole]) => [name, name === "n" ? Number(hole) : holeText(hole)]);
  return tOr(`said.${said.code}`, said.text, Object.fromEntries(holes) as Record<string, string | number>);
}

/** Return sentences in the reader's language; `own`: those that came without codes. */
export function saidTexts(said: readonly Saying[] | undefined, own: readonly string[]): readonly string[] {
  return said === undefined || said.length === 0 ? own : said.map((one) => saidText(one));
}

/** Return what an event says, in the reader's language where the words are this program's own. */
export const eventText = (event: Pick<EventLine, "message" | "said">): string => saidText(event.said, event.message);

function holeText(hole: unknown): string {
  if (typeof hole === "number") return formatNumber(hole, DIGITS);
  if (typeof hole !== "object" || hole === null) return String(hole);
  if ("code" in hole) return saidText(hole as Saying);
  if ("resource" in hole) return amountText(hole as { resource: string; amount: string });
  if ("key" in hole) return displayNameOf(String(hole.key));
  if ("place" in hole) return placeText(Number(hole.place));
  return itemsText(hole as { items: readonly unknown[]; all: boolean });
}

const amountText = ({ resource, amount }: { resource: string; amount: string }): string => quantity(resource, amount);

function itemsText({ items, all }: { items: readonly unknown[]; all: boolean }): string {
  const texts = items.map(holeText);
  return all ? texts.join(", ") : listed(texts);
}

// "2nd": English has four endings, by the plural rules of places.
function placeText(place: number): string {
  const form = new Intl.PluralRules(language(), { type: "ordinal" }).select(place);
  return t(`place.nth.${form}` as Word, { place: formatNumber(place) });
}
