// What the server refuses is said in the reader's language where it has a code, else in its own words.

import { beforeAll, expect, it, vi } from "vitest";

import { speak } from "@/lib/words.svelte";
import { request, type Refusal } from "@/net/rest";
import { voice } from "@/lib/say.svelte";
import { attempt } from "@/store/live/intents";
import { startSaying } from "@/store/live/refused";

const answers = (body: object): void => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(body), { status: 409 })));
};

vi.stubGlobal("document", { documentElement: { lang: "" }, cookie: "" });
beforeAll(() => {
  startSaying();
  return speak("zh-Hans");
});

it("a refusal with a code", async () => {
  const said = { code: "refused.noUndo", text: "there is no edit to undo", holes: {} };
  answers({ message: "there is no edit to undo", reason: "Conflict", details: { causes: [], said } });
  await expect(request("POST", "/sandboxes/s/actions/undo")).rejects.toThrow("没有可撤销的编辑");
});

it("a refusal in another refusal", async () => {
  const problem = { code: "moveRefused.finished", text: "t/a is finished", holes: { workload: "t/a" } };
  const said = { code: "refused.notThen", text: "", holes: { revision: 3, what: "Move", problem } };
  answers({ message: "", reason: "Conflict", details: { said } });
  await expect(request("POST", "/sandboxes/s/actions/undo")).rejects.toThrow("t/a 已结束");
});

it("what does not exist, and who may not", async () => {
  answers({ message: "", details: { said: { code: "absent.run", text: "", holes: { run: 7, total: 5 } } } });
  await expect(request("GET", "/experiments/e/runs/7")).rejects.toThrow("运行 7 不存在；共有 5 次");
  answers({ message: "", details: { said: { code: "denied.delete", text: "", holes: {} } } });
  await expect(request("DELETE", "/sandboxes/s")).rejects.toThrow("只有所有者可以删除沙盒");
});

it("each value that is wrong, with its place", async () => {
  const wanted = { code: "wanted.atLeast", text: "at least 1", holes: { least: "1" } };
  const what = { code: "form.got", text: "", holes: { wanted, given: "0" } };
  const said = { code: "form.at", text: "", holes: { field: "seed", what } };
  answers({ message: "ENGLISH", details: { causes: [{ field: "seed", message: "ENGLISH", said }, { field: "x", message: "odd" }] } });
  const error: unknown = await request("POST", "/sandboxes").catch((refusal: unknown) => refusal);
  expect((error as Refusal).causes.map((cause) => cause.message)).toEqual(["seed：应为至少 1，得到的是 0", "odd"]);
});

it("a refusal that its one cause says again is said once, with the place", async () => {
  answers({ message: "unknown release", details: { causes: [{ field: "changes[0]", message: "unknown release" }] } });
  await attempt(() => request("POST", "/sandboxes/s/what-ifs"));
  expect(voice.toasts.at(-1)).toMatchObject({ text: "unknown release", detail: "changes[0]" });
});

it("a refusal without a code", async () => {
  answers({ message: "the experiment is ended already", reason: "Conflict", details: { causes: [] } });
  await expect(request("POST", "/experiments/e/actions/cancel")).rejects.toThrow("the experiment is ended already");
});

it("a question that is still worked out is asked for again where the server says", async () => {
  const asked: string[] = [];
  const later = new Response('{"id": 7}', { status: 202, headers: { location: "/api/v1/answers/7" } });
  const replies = [later, new Response('{"outcome": "ran"}')];
  vi.stubGlobal("fetch", (place: string) => (asked.push(place), Promise.resolve(replies[asked.length - 1])));
  await expect(request("POST", "/sandboxes/s/whatif")).resolves.toEqual({ outcome: "ran" });
  expect(asked).toEqual(["/api/v1/sandboxes/s/whatif", "/api/v1/answers/7"]);
});

it("what is known of a what-if is handed out while it runs", async () => {
  const seen: unknown[] = [];
  const headers = { location: "/api/v1/sandboxes/s/what-ifs/4" };
  const replies = [new Response('{"toMs": 1}', { status: 202, headers }), new Response('{"toMs": 2}', { status: 202, headers }), new Response('{"toMs": 3}')];
  const asked: string[] = [];
  vi.stubGlobal("fetch", (place: string) => (asked.push(place), Promise.resolve(replies[asked.length - 1])));
  const found = await request("POST", "/sandboxes/s/what-ifs", { body: {}, soFar: (body) => void seen.push(body) });
  expect([seen, found]).toEqual([[{ toMs: 1 }, { toMs: 2 }], { toMs: 3 }]);
  expect(asked.slice(1)).toEqual([`${headers.location}?wait=0`, `${headers.location}?wait=0`]);
});
