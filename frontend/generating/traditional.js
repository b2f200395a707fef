// The catalogue of traditional Chinese, made from the simplified one when the page is built.
import { readFileSync } from "node:fs";

import { Converter } from "opencc-js";

const SIMPLIFIED = new URL("../src/lib/catalogue/zh-hans.ts", import.meta.url);
const EXCEPTIONS = new URL("../src/lib/catalogue/zh-hant.json", import.meta.url);
const ID = "virtual:zh-hant";
const ENTRY = /^ {2}"([\w.-]+)":\s*("(?:[^"\\]|\\.)*"),$/gm;

/** Return the traditional catalogue: word to sentence.
 *
 * OpenCC converts by phrases of Taiwan. `terms` of zh-hant.json replace phrases after that, in their
 * order; `sentences` replace a whole sentence by its key.
 */
export function traditional() {
  const { terms, sentences } = JSON.parse(readFileSync(EXCEPTIONS, "utf8"));
  const convert = Converter({ from: "cn", to: "twp" });
  const words = {};
  for (const [, key, text] of readFileSync(SIMPLIFIED, "utf8").matchAll(ENTRY)) {
    let sentence = convert(JSON.parse(text));
    for (const [given, wanted] of Object.entries(terms)) sentence = sentence.replaceAll(given, wanted);
    words[key] = sentences[key] ?? sentence;
  }
  return words;
}

/** Return the Vite plugin that serves `virtual:zh-hant`. */
export function traditionalCatalogue() {
  return {
    name: "traditional-catalogue",
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    load(id) {
      if (id !== `\0${ID}`) return undefined;
      this.addWatchFile(SIMPLIFIED.pathname);
      this.addWatchFile(EXCEPTIONS.pathname);
      return `export const ZH_HANT = ${JSON.stringify(traditional())};`;
    },
  };
}
