import { expect, test } from "vitest";

import type { Repair } from "@/protocol/types";
import { choiceOf, LEFT } from "@/store/sandboxes/loading";
import { countsOf, filled, needsLook, shownOf } from "@/store/sandboxes/workbench.svelte";
import type { DryImport } from "@/protocol/types";

const SAID = { code: "repair.replace", text: "", holes: {} };
const add = (document: string): Repair => ({ said: SAID, file: "added.yaml", line: 0, old: "", new: "", document });

test("the run times that were chosen go with the files, those of single objects first", () => {
  expect(choiceOf(LEFT)).toEqual({});
  expect(choiceOf({ ...LEFT, way: "written" })).toEqual({ reads: "sleep-deadline" });
  const each = { "Job/team/train": "2h" };
  expect(choiceOf({ ...LEFT, way: "all", span: "5m", each })).toEqual({ rules: [{ kind: "Job", namespace: "team", name: "train", takes: "2h" }, { takes: "5m" }] });
  const like = { name: "past.yaml", text: "kind: List" };
  expect(choiceOf({ ...LEFT, way: "like", like })).toEqual({ like: [like] });
});

const place = (file: string) => ({ file, line: 1, field: "" });
const NOTHING: DryImport = { files: [], findings: [], errors: 0, left: 0, report: { files: [], kinds: [], findings: [] }, refused: null, stacks: [], untimed: [], unfilled: [], work: false };
const warned = (code: string, repairs: Repair[] = []): DryImport => ({
  ...NOTHING,
  findings: [{ level: "warning", place: place("a.yaml"), problem: "", said: { ...SAID, code }, effect: "", code: "", repairs }],
});

test("errors and other findings are counted per file", () => {
  const counts = countsOf([{ level: "error", place: place("a") }, { level: "warning", place: place("a") }, { level: "unsupported", place: place("b") }]);
  expect(Object.fromEntries(counts)).toEqual({ a: { errors: 1, warnings: 1 }, b: { errors: 0, warnings: 1 } });
});

test("files need a look for an error, a repair, and run times that commands say", () => {
  expect(needsLook(NOTHING)).toBe(false);
  expect(needsLook({ ...NOTHING, errors: 1 })).toBe(true);
  expect(needsLook(warned("missing.named"))).toBe(false);
  expect(needsLook(warned("missing.named", [add("kind: A\n")]))).toBe(true);
  expect(needsLook(warned("runTime.readable"))).toBe(true);
  expect(needsLook(warned("missing.noNodes", [add("kind: Node\n")]))).toBe(false);
});

test("values go in the place of names, where those stand alone; what has none stays", () => {
  const files = [{ name: "a.yaml", text: "a: $A\nb: $A-$AB ${B}\nc: $A" }];
  const places = [{ file: "a.yaml", line: 2, name: "$A" }, { file: "a.yaml", line: 2, name: "${B}" }];
  expect(filled(files, places, new Map([["$A", "$& x"]]))[0]?.text).toBe("a: $A\nb: $& x-$AB ${B}\nc: $A");
  expect(needsLook({ ...NOTHING, unfilled: places })).toBe(true);
});

test("what the server unpacked is shown instead of the archive, what it could not read stays", () => {
  const archive = { name: "all.zip", text: "", data: "UEs=" };
  const found = { ...warned("x"), files: [{ name: "all.zip/a.yaml", text: "kind: A" }] };
  expect(shownOf([archive], found).map((file) => file.name)).toEqual(["all.zip/a.yaml"]);
  const unread = { ...found, findings: found.findings.map((one) => ({ ...one, place: place("all.zip") })) };
  expect(shownOf([archive], unread).map((file) => file.name)).toEqual(["all.zip/a.yaml", "all.zip"]);
});
