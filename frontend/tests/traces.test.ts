// Choices about traces travel only where they differ from the trace's own.

import { expect, test } from "vitest";

import { NO_CHOICES, mayHoldTraces, tracesOf } from "@/store/sandboxes/traces";

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
});
