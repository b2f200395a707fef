import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const SRC = new URL("../src/", import.meta.url);
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.(css|svelte|ts)$/.test(name));
const texts = files.map((name) => [name, readFileSync(new URL(name, SRC), "utf8")] as const);

// A property is set in a sheet (`--x: 1px`), or on an element (`style:--x={...}`).
const SET = /(?<![\w(-])--([\w-]+)(?=\s*:|=)/g;
// A brace behind the name: the rest of it is a number that is known later.
const USED = /var\(\s*--([\w-]+)(\$?\{)?/g;

function undefinedIn(pairs: readonly (readonly [string, string])[]): string[] {
  const known = new Set(pairs.flatMap(([, text]) => [...text.matchAll(SET)].map(([, name]) => name)));
  const isKnown = (name: string, open: boolean): boolean => (open ? known.has(`${name}1`) : known.has(name));
  return pairs.flatMap(([file, text]) =>
    [...text.matchAll(USED)].filter(([, name = "", open]) => !isKnown(name, open !== undefined)).map(([, name]) => `${file}: --${name}`),
  );
}

describe("a custom property of CSS", () => {
  it("is set somewhere before it is used", () => {
    expect(undefinedIn(texts)).toEqual([]);
  });

  it("that nothing sets is found, numbered ones too", () => {
    const sheet = ["a.css", ":root { --line: red; --q1: blue; } p { color: var(--line-1); fill: var(--line); }"] as const;
    const part = ["b.svelte", "<i style:--swatch={c} style:fill=\"var(--q{n})\" style:color=\"var(--w{n})\" class=\"x--y\"></i>"] as const;
    expect(undefinedIn([sheet, part])).toEqual(["a.css: --line-1", "b.svelte: --w"]);
  });
});
