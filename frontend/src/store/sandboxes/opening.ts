// Opening a scenario of the library; it comes with the first that is opened.

import { go, hrefOf } from "@/lib/address.svelte";
import { translated } from "@/lib/words.svelte";
import { ask, request, type Json } from "@/net/rest";
import type { Create, Scenario } from "@/protocol/types";
import { attempt } from "@/store/live/intents";
import { fetchSandbox } from "@/store/live/server";

const ASK_AGAIN_MS = 60;
const LONGEST_MS = 10_000;

/** Open a new sandbox of a scenario at a time of its run, with a query; it stands there, or `playing` plays on.
 *
 * It is drawn at once and fills up to that time; a lesson is drawn when it is there, because its first stop speaks of it.
 */
export async function openScenario(scenario: Scenario, atMs: number, query: Readonly<Record<string, string>>, playing = false): Promise<void> {
  const title = translated(scenario.title);
  const made = await attempt(() => ask("Created", "POST", "/sandboxes", { body: { scenario: scenario.name, title } satisfies Create }));
  if (made === null) return;
  const { id, tickMs } = made;
  const act = (action: string, body: Json): Promise<unknown> => attempt(() => request("POST", `/sandboxes/${id}/actions/${action}`, { body }));
  const tick = Math.ceil(atMs / tickMs);
  const shows = (): void => go(hrefOf(id, "board", query));
  if (query["lesson"] === undefined) shows();
  if (tick > 0) {
    await act("speed", { speed: 0 });
    await act("step", { untilTick: tick });
    const until = Date.now() + LONGEST_MS;
    while (Date.now() < until && (await fetchSandbox(id)).tick < tick) {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
    await act("speed", { speed: 1 });
  }
  if (playing) await act("play", {});
  if (query["lesson"] !== undefined) shows();
}
