// Panels whose sentences are the server's: drawn in the reader's language.

import { render } from "svelte/server";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { speak, withWords } from "@/lib/words.svelte";
import type { TopologySearch } from "@/protocol/types";
import NotSimulated from "@/views/inspector/NotSimulated.svelte";
import TopologyLevels from "@/views/inspector/workload/TopologyLevels.svelte";

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });

const said = (code: string, holes: Readonly<Record<string, unknown>> = {}) => ({ code, text: "ENGLISH", holes });
const domain = (path: string, taken: number, code: string | null) =>
  ({ path, fits: taken, taken, why: code === null ? "" : "ENGLISH", said: code === null ? null : { code, text: "ENGLISH", holes: {} } });
const SEARCH: TopologySearch = {
  podSet: "main", flavor: "a100", empty: false, reason: "", sentence: "", said: null,
  levels: [{ level: "rack", requested: true, needed: 2, more: 1, domains: [domain("b1 r1", 0, "left.nothing"), domain("b1 r2", 2, null)] }],
};
const textOf = (html: string): string => html.replaceAll(/<!--.*?-->/g, "").replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

describe.each(["zh-Hans", "zh-Hant"] as const)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("what has no effect is listed in Chinese", async () => {
    const props = { own: ["ENGLISH"], said: [said("idle.counted", { what: said("idle.noGangs"), count: 3 }), said("idle.noNodes")] };
    const drawn = (): string => textOf(render(NotSimulated, { props }).body);
    await vi.waitFor(() => expect(drawn()).not.toContain("ENGLISH")); // its sentences are loaded by the first
    expect(drawn()).toMatch(/\u7684|\u6ca1|\u6c92/);
  });
  it("the levels of a topology say in Chinese why a domain was left", () => {
    const text = textOf(render(TopologyLevels, { props: { searches: [SEARCH] } }).body);
    expect(text).not.toContain("ENGLISH");
    expect(text.replaceAll(/main|a100|rack|b1|r1|r2/g, "")).not.toMatch(/[A-Za-z]{2,}/);
    expect(text).toMatch(/[\u4e00-\u9fff]{4}/);
  });
});
