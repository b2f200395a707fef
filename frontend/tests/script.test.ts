// A lesson that is written on: what was not touched is sent as it was.
import { describe, expect, it, vi } from "vitest";

import type { Checkpoint, Scenario } from "@/protocol/types";
import { draftsOf, fetchScript, scriptOf } from "@/store/live/script.svelte";

const stop = {
  at: "4s", atMs: 4000, shownMs: null, say: { en: "Now.", "zh-Hans": "现在。" }, ask: { en: "Who?", "zh-Hans": "谁？" }, answer: {}, notes: {},
  choices: [{ en: "a", "zh-Hans": "甲" }, { en: "b", "zh-Hans": "乙" }, { en: "c", "zh-Hans": "丙" }], right: 1,
  beside: [{ title: { en: "Fair" }, policy: { kueue: {} } }], untilMs: 60_000, switch: "kueue.fairSharing", spot: [],
} satisfies Checkpoint;
const kept = { title: { en: "A run", "zh-Hans": "一次运行" }, summary: { en: "What happens." }, checkpoints: [stop] } as unknown as Scenario;

describe("a lesson that is saved again", () => {
  it("keeps every language of what nobody changed", () => {
    const [draft] = draftsOf(kept);
    const sent = scriptOf("A run", draft === undefined ? [] : [{ ...draft, ask: "Who goes?" }], kept);
    expect([sent.title, sent.summary]).toEqual([kept.title, kept.summary]);
    expect(sent.checkpoints[0]).toMatchObject({ say: stop.say, ask: { en: "Who goes?" }, choices: stop.choices });
  });
  it("keeps what runs beside a stop, and the setting that it is about", () => {
    const sent = scriptOf("A run", draftsOf(kept), kept).checkpoints[0];
    expect(sent).toMatchObject({ beside: stop.beside, until: "60000ms", switch: stop.switch });
  });
  it("has the same right choice when one before it is emptied, and none when it is emptied itself", () => {
    const [draft] = draftsOf(kept);
    if (draft === undefined) throw new Error("no draft");
    const rightOf = (choices: string[]): unknown => scriptOf("A run", [{ ...draft, choices }], kept).checkpoints[0]?.right;
    expect([rightOf(["", "b", "c"]), rightOf(["a", "", "c"])]).toEqual([0, null]);
  });
});

it("is no lesson only where the server has none", async () => {
  const answers = [404, 503].map((status) => new Response(JSON.stringify({ message: "no" }), { status }));
  vi.stubGlobal("fetch", () => Promise.resolve(answers.shift()));
  vi.stubGlobal("document", { cookie: "" });
  expect(await fetchScript("a")).toBeNull();
  await expect(fetchScript("a")).rejects.toThrow();
});
