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
    next.push(...importsOf(file, text));
  }
  return [...texts].filter(([file]) => !file.includes("/catalogue/")).map(([, text]) => text);
}

/** Return the text of each file of the source but the catalogues. */
export function allFiles(): string[] {
  const names = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  const kept = names.filter((name) => /\.(ts|svelte)$/.test(name) && !name.includes("catalogue/"));
  return kept.map((name) => readFileSync(join(SRC, name), "utf8"));
}

/** Return each file of the source with the files that it imports, types too. */
export function allImports(): Map<string, string[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|svelte)$/.test(name)).map((name) => join(SRC, name));
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(file, "utf8").replaceAll(/^(\s*import) type\b/gm, "$1"))]));
}

/** Return the files on a way that leads back to its begin; a file that imports itself is none. */
export function circle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return way.at(-1) === file ? [] : [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of imports.get(file) ?? []) {
      const found = walk(next, [...way, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const found = walk(file, []);
    if (found.length > 0) return found;
  }
  return [];
}

const importsOf = (file: string, text: string): string[] => [...text.matchAll(IMPORT)].flatMap(([, name = ""]) => fileOf(name, file));

function fileOf(name: string, from: string): string[] {
  const path = name.startsWith("@/") ? join(SRC, name.slice(2)) : name.startsWith(".") ? resolve(dirname(from), name) : null;
  if (path === null || path.endsWith(".css")) return [];
  return [path, `${path}.ts`, `${path}.svelte`].filter((one) => /\.(ts|svelte)$/.test(one) && existsSync(one));
}
