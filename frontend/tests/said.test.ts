// Sentences of the server's by their codes, said in each language.

import { beforeAll, describe, expect, it, vi } from "vitest";

import { LANGUAGES, speak, withWords } from "@/lib/words.svelte";
import { eventText, saidText, saidTexts, type Saying } from "@/store/live/said";

const said = (code: string, holes: Saying["holes"] = {}, text = "ENGLISH"): Saying => ({ code, text, holes });
const GPU = { resource: "nvidia.com/gpu", amount: "8" };
const SHORT = said("short.short", { flavor: "a100", asked: GPU, free: GPU, short: GPU });
const NOT_TRIED = said("why.notTried", { why: said("notTried.noLocalQueue", { queue: "main", namespace: "team" }) });
const BEHIND = said("why.behind", { place: { place: 2 }, of: 12, name: { key: "Workload/team/x" } });
const names = { items: ["a", "b", "c", "d"].map((name) => ({ key: `Workload/team/${name}` })), all: false };
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

vi.stubGlobal("document", { documentElement: { lang: "" } }); // whose language is set
beforeAll(async () => { await withWords(Promise.resolve()); });

describe("in English", () => {
  beforeAll(() => speak("en"));
  it("amounts, names and places in a line fill the holes", () => {
    expect(plain(saidText(SHORT))).toBe("Flavor a100: 8 GPU asked, 8 GPU free; short by 8 GPU.");
    expect(saidText(BEHIND)).toBe("It is 2nd of 12 in its ClusterQueue, behind x.");
  });
  it("a sentence fills the hole of another", () => {
    expect(saidText(NOT_TRIED)).toBe("It is not tried for admission: there is no LocalQueue main in namespace team.");
  });
  it("the number chooses the form", () => {
    expect(saidText(said("short.allRefused", { n: 1 }))).toBe("Preemption: 1 candidate looked at, all refused.");
    expect(saidText(said("short.allRefused", { n: 2 }))).toBe("Preemption: 2 candidates looked at, all refused.");
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  beforeAll(() => speak(language));
  it("a code that is known has words of its own", () => {
    const texts = [SHORT, NOT_TRIED, BEHIND, said("why.preempts", { names })].map((one) => saidText(one));
    expect(texts.filter((text) => text.includes("ENGLISH") || text.includes("{") || text.includes("[object"))).toEqual([]);
    if (language !== "en") expect(texts.filter((text) => /\b(asked|tried|behind|preempt|more)\b/.test(text))).toEqual([]);
  });
  it("a code that is not known, and what came without one, is in the server's words", () => {
    expect(saidText(said("strange"))).toBe("ENGLISH");
    expect(saidText(undefined, "ENGLISH")).toBe("ENGLISH");
    expect(saidTexts([], ["ENGLISH"])).toEqual(["ENGLISH"]);
    expect(saidText(said("why.notTried", { why: said("strange") }))).toContain("ENGLISH");
  });
});

describe("an event", () => {
  const moved = said("edit.moves", { who: "ana", object: "ml/job-x", target: "ClusterQueue//inference" }, "ana moves ml/job-x to ClusterQueue//inference");
  const events = [
    { message: "ana undoes: ana moves ml/job-x to ClusterQueue//inference", said: said("edit.undoes", { who: "ana", edit: moved }) },
    { message: "ana runs until Preempt or Evict or tick 65", said: said("edit.runsToEither", { who: "ana", tick: "65", awaited: said("anyOf.either", { name: "Preempt", awaited: "Evict" }) }) },
  ];
  const texts = (): readonly string[] => events.map(eventText);
  it("in this program's own words is said in the reader's language", async () => {
    await speak("en");
    expect(texts()).toEqual(events.map((event) => event.message));
    await speak("zh-Hans");
    expect(texts()).toEqual(["ana 撤销：ana 将 ml/job-x 移到 ClusterQueue//inference", "ana 运行到出现 Preempt 或 Evict，或到时刻 65"]);
    await speak("zh-Hant");
    expect(texts()).toEqual(["ana 復原：ana 將 ml/job-x 移到 ClusterQueue//inference", "ana 執行到出現 Preempt 或 Evict，或到時刻 65"]);
  });
  it("in a scheduler's own words is left as it is", async () => {
    await speak("zh-Hans");
    expect(eventText({ message: "Preempted to accommodate a workload" })).toBe("Preempted to accommodate a workload");
  });
});
