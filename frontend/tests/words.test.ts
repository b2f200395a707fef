import { describe, expect, it } from "vitest";

import { asks, bare, mainResource, orderResources, quantity } from "@/lib/amounts";
import { EN as FIRST } from "@/lib/catalogue/en";
import { EN_LATER } from "@/lib/catalogue/en-later";
import { ZH_HANS } from "@/lib/catalogue/zh-hans";
import { ZH_HANT } from "virtual:zh-hant";
import { clock, span, tickOf } from "@/lib/times";
import { formatNumber, signed, t, withWords } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";

import { allFiles, firstFiles } from "./reach";

const EN = { ...FIRST, ...EN_LATER };
await withWords(Promise.resolve());
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

describe("a quantity", () => {
  it("keeps its number and its unit together", () => {
    expect(quantity("cpu", 1500)).toBe("1.5\u00a0CPU");
    expect(plain(quantity("memory", 2 * 2 ** 30))).toBe("2 GiB");
    expect(plain(quantity("nvidia.com/gpu", 8))).toBe("8 GPU");
    expect(plain(quantity("rdma/hca_shared", 4))).toBe("4 hca_shared");
  });

  it("without its unit is in the unit that the head names", () => {
    expect(bare("memory", 512 * 2 ** 20)).toBe("0.5");
    expect(bare("cpu", 1_000_000)).toBe("1,000");
  });

  it("says that there is no limit", () => {
    expect(bare("cpu", 2 ** 63)).toBe("∞");
  });

  it("of a pod set counts its pods", () => {
    expect(plain(asks(4, { "nvidia.com/gpu": "8", cpu: "1000" }))).toBe("4 × 8 GPU");
    expect(mainResource({ memory: "5", cpu: "1" })).toBe("cpu");
  });

  it("is listed with devices first and pods last", () => {
    expect(orderResources(["memory", "pods", "cpu", "a/b"])).toEqual(["a/b", "cpu", "memory", "pods"]);
  });
});

describe("a time", () => {
  it("is written in its two largest units", () => {
    expect([span(250), span(45_000), span(12_000_000)].map(plain)).toEqual(["250 ms", "45 s", "3 h 20 min"]);
  });
  it("is a clock since the start of the run", () => {
    expect(clock(4_180_000)).toBe("01:09:40");
    expect(tickOf(1999, 1000)).toBe(2);
  });
});

describe("a sentence", () => {
  it("chooses its form by the number", () => {
    expect(t("preempt.victims", { n: 1 })).toBe("1 victim");
    expect(t("preempt.victims", { n: 3 })).toBe("3 victims");
  });
  it("has a minus and a plus that are as wide as figures", () => {
    expect([signed(8), signed(-3), signed(0), formatNumber(Infinity)]).toEqual(["+8", "−3", "0", "∞"]);
  });
});

describe("the catalogues", () => {
  const holes = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

  it.each([["zh-Hans", ZH_HANS], ["zh-Hant", ZH_HANT]] as const)("%s fills the same holes as English", (_, words) => {
    for (const [word, text] of Object.entries(EN)) {
      const form = text.split("|").at(-1) ?? "";
      expect([word, ...holes(words[word as keyof typeof EN])]).toEqual([word, ...holes(form)]);
    }
  });

  it("hold no word that nothing says", () => {
    const said = allFiles().join("\n");
    const made = [...said.matchAll(/`([a-zA-Z]+\.[^`\s]*\$\{[^`\s]*)`/g)].map(([, one = ""]) => one.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.[\]]/g, "\\$&")).join(".+"));
    const patterns = made.map((one) => new RegExp(`^${one}$`));
    const dead = Object.keys(EN).filter((key) => !said.includes(`"${key}"`) && !patterns.some((pattern) => pattern.test(key)));
    expect(dead).toEqual([]);
  });

  it("have every word of the first view in what is loaded with it", () => {
    const source = firstFiles().join("\n");
    const said = new Set([...source.matchAll(/["'`]([\w.-]+)["'`]/g)].map((found) => found[1]));
    const begun = [...source.matchAll(/`([\w.-]+\.)\$\{/g)].map((found) => found[1] ?? "");
    const missing = Object.keys(EN_LATER).filter((word) => said.has(word) || begun.some((head) => word.startsWith(head)));
    expect(missing).toEqual([]);
  });

  it.each([["zh-Hans", ZH_HANS], ["zh-Hant", ZH_HANT]] as const)("%s has one form for every number", (_, words) => {
    expect(Object.values(words).filter((text) => text.includes("|"))).toEqual([]);
  });
});

describe("a document as YAML", () => {
  it("quotes what would be read as something else", () => {
    expect(toYaml({ a: "60s", b: "true", c: "plain text", d: [{ x: 1 }, []], e: {} })).toBe(
      'a: "60s"\nb: "true"\nc: plain text\nd:\n  - x: 1\n  - []\ne: {}\n',
    );
  });
});
