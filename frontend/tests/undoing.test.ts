// An undo that a worker takes long for shows how far it is, and is stopped by its button.

import { expect, it, vi } from "vitest";

import { voice } from "@/lib/say.svelte";
import { live } from "@/store/live/live.svelte";
import type { FollowedSandbox } from "@/store/live/followed.svelte";
import { undo } from "@/store/live/intents";

const PLACE = "/api/v1/answers/7";
const pending = (done: number): Response =>
  new Response(JSON.stringify({ id: 7, place: PLACE, soFar: { done, of: 9 } }), { status: 202, headers: { location: PLACE } });

vi.stubGlobal("document", { documentElement: { lang: "" }, cookie: "" });

function serves(answers: Response[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string, how: RequestInit) => {
    asked.push(`${how.method ?? "GET"} ${url}`);
    return how.signal?.aborted ? Promise.reject(new DOMException("", "AbortError")) : Promise.resolve(answers.shift() ?? new Response(null, { status: 204 }));
  });
  return asked;
}

it("says how far it is in one note, and then that it is done", async () => {
  live.sandbox = { id: "s" } as unknown as FollowedSandbox;
  const asked = serves([pending(1), pending(5), new Response(JSON.stringify({ revision: 3, tick: 2 }))]);
  const undone = undo();
  await vi.waitFor(() => { expect(voice.toasts.map((one) => one.text)).toEqual(["Running again without the edit: 5 of 9"]); });
  expect(await undone).toEqual({ revision: 3, tick: 2 });
  expect(voice.toasts.map((one) => one.text)).toEqual(["The last edit is undone"]);
  expect(asked).toEqual(["POST /api/v1/sandboxes/s/actions/undo?wait=1", `GET ${PLACE}?wait=0`, `GET ${PLACE}?wait=0`]);
});

it("is stopped by its button", async () => {
  live.sandbox = { id: "s" } as unknown as FollowedSandbox;
  const asked = serves([pending(1), pending(2)]);
  const undone = undo();
  await vi.waitFor(() => { expect(voice.toasts[0]?.acts?.[0]?.label).toBe("Stop"); });
  voice.toasts[0]?.acts?.[0]?.run();
  expect(await undone).toBeNull();
  expect(asked).toContain(`DELETE ${PLACE}`);
  expect(voice.toasts).toEqual([]);
});
