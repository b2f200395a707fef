// Choices about traces travel only where they differ from the trace's own.

import { expect, test } from "vitest";

import { NO_CHOICES, mayHoldTraces, sourceOf, tracesOf } from "@/store/sandboxes/traces";

test("what nobody chose is not sent", () => {
  expect(tracesOf({ ...NO_CHOICES, columns: { submit: "" } })).toEqual({});
});

test("what was chosen is sent under the API's names", () => {
  const choices = { ...NO_CHOICES, queueBy: "vc", pace: 2, most: 10, columns: { submit: "created:ms", run: "" } };
  expect(tracesOf(choices)).toEqual({ queueBy: "vc", pace: 2, most: 10, columns: { submit: "created:ms" } });
});

test("manifests alone are not asked about", () => {
  expect(mayHoldTraces([{ name: "queues.yaml", text: "" }])).toBe(false);
  expect(mayHoldTraces([{ name: "log.SWF.gz", text: "" }])).toBe(true);
  expect(mayHoldTraces([{ name: "cluster_job_log", text: '[ {"jobid": "a", "attempts": []} ]' }])).toBe(true);
});

test("a file that is no UTF-8 text is sent as its bytes, so that no letter changes", async () => {
  const given = [new Uint8Array([0x61, 0xe9]), new Uint8Array([0xff, 0xfe, 0x61, 0]), new TextEncoder().encode("é")];
  const sent = await Promise.all(given.map((bytes) => sourceOf(new File([bytes], "a.yaml"))));
  expect(sent.map(({ text, data }) => [text, data])).toEqual([["", "Yek="], ["", "//5hAA=="], ["é", undefined]]);
});
