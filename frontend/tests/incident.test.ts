// A window with another policy, as one sentence.
import { expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import type { IncidentReplay } from "@/protocol/types";
import { incidentSentence } from "@/store/compare/incident";

await withWords(Promise.resolve());
type Run = IncidentReplay["same"];
const run = (preemptions: number, waits: Record<string, number>): Run => ({
  preemptions, admitted: 0, queues: Object.entries(waits).map(([queue, minutes]) => ({ queue, workloads: 9, admitted: 9, waitMs: minutes * 60_000 })),
});

it("names the queues that change most, and the preemptions", () => {
  const same = run(2, { research: 60, batch: 10, dev: 5 });
  const changed = run(5, { research: 20, batch: 11, dev: 8 });
  expect(incidentSentence({ same, changed }).replaceAll("\u00a0", " ")).toBe("research would have waited 40 min less, dev would have waited 3 min more, 3 preemptions more");
});

it("says so when nothing differs", () => {
  const same = run(1, { research: 60 });
  expect(incidentSentence({ same, changed: same })).toBe("Nothing would have been otherwise.");
});
