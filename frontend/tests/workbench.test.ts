import { expect, test } from "vitest";

import type { Repair } from "@/protocol/types";
import { policyOf, repaired } from "@/store/sandboxes/repairing";
import { countsOf, needsLook, shownOf } from "@/store/sandboxes/workbench.svelte";
import type { DryImport } from "@/protocol/types";

const SAID = { code: "repair.replace", text: "", holes: {} };
const put = (line: number, old: string, meant: string): Repair => ({ said: SAID, file: "a.yaml", line, old, new: meant, document: "" });
const add = (document: string): Repair => ({ said: SAID, file: "added.yaml", line: 0, old: "", new: "", document });
const text = (given: string, ...repairs: Repair[]): string => repaired([{ name: "a.yaml", text: given }], repairs)[0]?.text ?? "";

test("a text is put in place of another as a whole word, in its line alone", () => {
  expect(text("x: 2Gb\ny: 12Gb 2Gb\n", put(2, "2Gb", "2G"))).toBe("x: 2Gb\ny: 12Gb 2G\n");
});

test("a text that is not there any more is left as it is", () => {
  expect(text("x: 3G\n", put(1, "2Gb", "2G"))).toBe("x: 3G\n");
});

test("documents are added to a file of their own, each once", () => {
  const files = repaired([{ name: "a.yaml", text: "" }], [add("kind: A\n"), add("kind: A\n"), add("kind: B\n")]);
  expect(files.map((file) => file.name)).toEqual(["a.yaml", "added.yaml"]);
  expect(files[1]?.text).toBe("kind: A\n---\nkind: B\n");
});

test("the run times that were chosen are part of the policy of the new sandbox", () => {
  expect(policyOf(undefined, { way: "leave", span: "" })).toEqual({});
  expect(policyOf("kueue", { way: "written", span: "" })).toEqual({ stack: "kueue", simulation: { runTimesFrom: "sleep-deadline" } });
  expect(policyOf(undefined, { way: "all", span: "5m" })).toEqual({ simulation: { defaultRuntime: "5m" } });
});

const place = (file: string) => ({ file, line: 1, field: "" });
const NOTHING: DryImport = { files: [], findings: [], errors: 0, left: 0, report: { files: [], kinds: [], findings: [] }, refused: null, stacks: [] };
const warned = (code: string, repairs: Repair[] = []): DryImport => ({
  ...NOTHING,
  findings: [{ level: "warning", place: place("a.yaml"), problem: "", said: { ...SAID, code }, effect: "", code: "", repairs }],
});

test("errors and other findings are counted per file", () => {
  const counts = countsOf([{ level: "error", place: place("a") }, { level: "warning", place: place("a") }, { level: "unsupported", place: place("b") }]);
  expect(Object.fromEntries(counts)).toEqual({ a: { errors: 1, warnings: 1 }, b: { errors: 0, warnings: 1 } });
});

test("files need a look for an error, a repair, and run times that commands say", () => {
  expect(needsLook(NOTHING, null)).toBe(false);
  expect(needsLook({ ...NOTHING, errors: 1 }, null)).toBe(true);
  expect(needsLook(warned("missing.named"), null)).toBe(false);
  expect(needsLook(warned("missing.named", [add("kind: A\n")]), null)).toBe(true);
  expect(needsLook(warned("runTime.readable"), null)).toBe(true);
  expect(needsLook(warned("runTime.readable"), "one")).toBe(false);
});

test("what the server unpacked is shown instead of the archive, what it could not read stays", () => {
  const archive = { name: "all.zip", text: "", data: "UEs=" };
  const found = { ...warned("x"), files: [{ name: "all.zip/a.yaml", text: "kind: A" }] };
  expect(shownOf([archive], found).map((file) => file.name)).toEqual(["all.zip/a.yaml"]);
  const unread = { ...found, findings: found.findings.map((one) => ({ ...one, place: place("all.zip") })) };
  expect(shownOf([archive], unread).map((file) => file.name)).toEqual(["all.zip/a.yaml", "all.zip"]);
});
