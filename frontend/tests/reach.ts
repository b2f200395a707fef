// The source that the first view is made of: all that main.ts imports, but for what comes when asked for.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const SRC = new URL("../src", import.meta.url).pathname;
const IMPORT = /^\s*(?:import|export)\s+(?!type\b)(?:[^;'"]*?from\s*)?["']([^"']+)["']/gm;

/** Return the text of each file but the catalogues. */
export function firstFiles(): string[] {
  const texts = new Map<string, string>();
  const next = [join(SRC, "main.ts")];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (texts.has(file)) continue;
    const text = readFileSync(file, "utf8");
    texts.set(file, text);
    for (const [, name = ""] of text.matchAll(IMPORT)) next.push(...fileOf(name, file));
  }
  return [...texts].filter(([file]) => !file.includes("/catalogue/")).map(([, text]) => text);
}

/** Return the text of each file of the source but the catalogues. */
export function allFiles(): string[] {
  const names = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  const kept = names.filter((name) => /\.(ts|svelte)$/.test(name) && !name.includes("catalogue/"));
  return kept.map((name) => readFileSync(join(SRC, name), "utf8"));
}

function fileOf(name: string, from: string): string[] {
  const path = name.startsWith("@/") ? join(SRC, name.slice(2)) : name.startsWith(".") ? resolve(dirname(from), name) : null;
  if (path === null || path.endsWith(".css")) return [];
  return [path, `${path}.ts`, `${path}.svelte`].filter((one) => /\.(ts|svelte)$/.test(one) && existsSync(one));
}
