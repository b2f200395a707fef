// The figures beside a usage bar: "48 / 40 +8"; pure.

import { bare, isBytes, ofTotal, quantity } from "@/lib/amounts";

export interface Usage {
  readonly nominal: number;
  readonly used: number;
  readonly borrowed: number;
  readonly limit: number | null; // nominal + borrowing limit; null = none
}

export interface Figures {
  readonly used: string;
  readonly of: string; // "/ 40", "≤ 40", or nothing where nothing is promised
  readonly more: string; // "+8", or nothing
}

const NARROW = 0.55; // of a figure's width: commas, points, spaces
const BOLD = 1.1;

/** Return the figures of a bar; `sum`: a cohort, where what is borrowed inside is not borrowed by it. */
export function figuresOf(resource: string, usage: Usage, sum = false, open = false): Figures {
  const [used, total] = ofTotal(resource, usage.used, open ? (usage.limit ?? 0) : usage.nominal);
  const more = isBytes(resource) ? quantity(resource, usage.borrowed) : bare(resource, usage.borrowed);
  return {
    used,
    of: open && usage.limit === null ? "" : `\u00a0${open ? "≤" : "/"}\u00a0${total}`,
    more: usage.borrowed > 0 && !sum ? `\u00a0+${more}` : "",
  };
}

/** Return the width of figures in `ch`, a little more than they take. */
export function widthOf({ used, of, more }: Figures): number {
  return Math.ceil(BOLD * (lengthOf(used) + lengthOf(more)) + lengthOf(of));
}

function lengthOf(text: string): number {
  const narrow = text.match(/[\s.,/]/g)?.length ?? 0;
  return text.length - narrow * (1 - NARROW);
}
