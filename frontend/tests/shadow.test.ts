// A real cluster's decisions beside this engine's, in words and lines.
import { expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import { differenceText, linesOf, percentText, stepText } from "@/store/compare/shadow";

await withWords(Promise.resolve());
const STEP = { tMs: 5000, subject: "Workload/team/train", by: "", queue: "", flavors: [], text: "" };

it("says 100% only where all agree", () => {
  expect(percentText(1999, 2000)).toBe("99.9%");
  expect(percentText(2000, 2000)).toBe("100%");
});

it("is a line per kind, with gaps where nothing was decided", () => {
  const at = (kind: string, tick: number, judged: number, agree: number): Parameters<typeof linesOf>[0][number] => ({ kind, tick, tMs: tick * 1000, judged, agree });
  expect(linesOf([at("admission", 1, 4, 3), at("admission", 9, 1, 1), at("preemption", 9, 2, 1)])).toEqual({
    ticks: [1, 9],
    lines: [{ kind: "admission", values: [75, 100] }, { kind: "preemption", values: [null, 50] }],
  });
});

it("names each step and each difference", () => {
  expect(stepText({ ...STEP, kind: "admit", queue: "a", flavors: ["main: cpu in spot"] })).toBe("team/train is admitted to a (main: cpu in spot)");
  expect(stepText({ ...STEP, kind: "preempt", by: "Workload/team/urgent", text: "InClusterQueue" })).toBe("team/urgent preempts team/train (InClusterQueue)");
  expect(stepText({ ...STEP, kind: "search", text: "A sentence." })).toBe("A sentence.");
  expect(differenceText("another flavor")).toBe("another flavor");
  expect(differenceText("new")).toBe("new");
});
