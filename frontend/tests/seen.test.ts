import { afterEach, expect, it } from "vitest";

import { backToLive, live } from "@/store/live/live.svelte";
import { seenPreemptions } from "@/store/live/seen.svelte";
import { EMPTY_PAGE } from "@/store/rows/page";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { event } from "./worlds";

afterEach(backToLive);

it("counts in the past the preemptions up to the tick shown alone", () => {
  live.past = new RowStore({ ...EMPTY_PAGE, revision: 4, events: [event(2), event(3)] });
  expect(seenPreemptions.unseen("board")).toBe(2);
  live.past = new RowStore({ ...EMPTY_PAGE, revision: 2, events: [event(2)] });
  expect(seenPreemptions.unseen("board")).toBe(1);
});
