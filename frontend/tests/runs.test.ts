import { beforeAll, describe, expect, it } from "vitest";

import { roundMarks } from "@/draw/steps";
import { csvOf } from "@/lib/saving";
import { withWords } from "@/lib/words.svelte";
import { axisValues, BLANK, documentOf, packDraft, unpackDraft, variantCount, type Draft, type Subject } from "@/store/runs/drafting";
import type { Interval, VariantResult } from "@/protocol/types";
import { changeText, measureLabel, measureText, usualMeasures } from "@/store/runs/measures";
import { half, judge, reach } from "@/store/runs/results";

beforeAll(() => withWords(Promise.resolve())); // measures have words that come later

const quota: Subject = {
  id: "quota", label: "quota", group: "queue", kind: "text", choices: [], now: "4",
  part: (value) => ({ objects: [{ object: "ClusterQueue/a", set: { "spec.x": value } }] }),
  axis: { object: "ClusterQueue/a", field: "spec.x" },
};
const weight: Subject = { ...quota, id: "weight", label: "weight", part: (value) => ({ objects: [{ object: "ClusterQueue/a", set: { "spec.w": value } }] }) };
const fair: Subject = {
  id: "fair", label: "fair", group: "policy", kind: "choice", now: "on",
  choices: [{ name: "off", label: "off", value: null }, { name: "on", label: "on", value: {} }],
  part: (value) => ({ policy: { kueue: { fairSharing: value } } }),
};
const arrivals: Subject = { id: "arrivals", label: "pace", group: "run", kind: "number", choices: [], now: "1", part: (value) => ({ arrivals: Number(value) }), axis: {} };
const SUBJECTS = new Map([quota, weight, fair, arrivals].map((one) => [one.id, one]));
const SOURCE = { sandbox: "box", tick: 7, scenario: "friday-rush" };

type Spec = Readonly<Record<string, unknown>>;
const specOf = (draft: Partial<Draft>): Spec => documentOf({ ...BLANK, ...draft }, SOURCE, SUBJECTS)["spec"] as Spec;

describe("a draft", () => {
  it("comes back from the URL as it went in, whatever its language", () => {
    const draft: Draft = { ...BLANK, title: "配额 ± 2", variants: [{ name: "as it is", trials: [{ what: "fair", value: null }] }] };
    expect(unpackDraft(packDraft(draft))).toEqual(draft);
    expect(unpackDraft("not one")).toBeNull();
    expect(packDraft(draft)).toMatch(/^[\w-]+$/);
  });

  it("writes several fields of one object as one change of it", () => {
    const trials = [{ what: "quota", value: "9" }, { what: "weight", value: 2 }, { what: "arrivals", value: 2 }];
    expect(specOf({ variants: [{ name: "more", trials }] })["variants"]).toEqual([
      { name: "more", objects: [{ object: "ClusterQueue/a", set: { "spec.x": "9", "spec.w": 2 } }], arrivals: 2 },
    ]);
  });

  it("begins at the tick that is shown, or where its scenario does", () => {
    expect(specOf({})["base"]).toEqual({ sandbox: "box", tick: 7 });
    expect(specOf({ from: "start" })["base"]).toEqual({ scenario: "friday-rush" });
  });

  it("of a grid has every combination beside the world as it is", () => {
    const axes = [{ what: "fair", values: "off, on" }, { what: "arrivals", values: "1, 2, 3" }];
    expect(variantCount({ ...BLANK, mode: "grid", axes }, SUBJECTS)).toBe(7);
    expect(specOf({ mode: "grid", axes })["grid"]).toEqual([
      { name: "fair", choices: [{ name: "off", policy: { kueue: { fairSharing: null } } }, { name: "on", policy: { kueue: { fairSharing: {} } } }] },
      { name: "arrivals", values: [1, 2, 3] },
    ]);
  });

  it("of a search may draw from a range", () => {
    const search = specOf({ mode: "search", samples: 5, axes: [{ what: "arrivals", values: "0.5..2" }] })["search"];
    expect(search).toEqual({ samples: 5, seed: 1, axes: [{ name: "arrivals", range: { low: 0.5, high: 2, whole: false } }] });
  });

  it("says which change leads nowhere", () => {
    expect(() => specOf({ variants: [{ name: "x", trials: [{ what: "gone", value: 1 }] }] })).toThrow("gone");
    expect(axisValues({ what: "quota", values: " 1 ,, 2 " }, quota).map((one) => one.name)).toEqual(["1", "2"]);
  });
});

const about = (mean: number, low: number | null, high: number | null): Interval => ({ count: 3, mean, low, high });
const line = (gap: Interval): VariantResult => ({ variant: 1, runs: 3, measures: {}, differences: { wait: gap }, front: false });

describe("a variant against the base", () => {
  it("is better or worse only where the interval lies on one side of 0", () => {
    expect(judge(line(about(-4, -6, -2)), "wait", "low")).toBe("better");
    expect(judge(line(about(-4, -6, -2)), "wait", "high")).toBe("worse");
    expect(judge(line(about(-4, -9, 1)), "wait", "low")).toBe("unclear");
    expect(judge(line(about(-4, -6, -2)), "wait", undefined)).toBe("other");
    expect(judge(line(about(0, 0, 0)), "wait", "low")).toBe("same");
    expect(judge(line(about(-4, null, null)), "wait", "low")).toBe("single");
    expect(judge({ ...line(about(0, 0, 0)), variant: 0 }, "wait", "low")).toBe("base");
  });

  it("is drawn on a scale that holds every interval", () => {
    const [low, high] = reach([about(5, 1, 9), about(7, null, null)]);
    expect(low).toBeLessThan(1);
    expect(high).toBeGreaterThan(9);
    expect([half(about(5, 1, 9)), half(about(5, null, null))]).toEqual([4, null]);
  });
});

describe("measures", () => {
  it("are written with their units", () => {
    expect(measureText("waitMeanMs", 34_000)).toBe("34 s");
    expect(measureText("utilisation.nvidia.com/gpu", 0.985)).toBe("98.5\u00a0%");
    expect(measureText("workLost.nvidia.com/gpu", 2.25)).toBe("2.25\u00a0GPU·h");
    expect(changeText("waitMeanMs", -5000)).toBe("−5 s");
    expect(changeText("preemptions", 0)).toBe("0");
  });

  it("are named with what they are of", () => {
    expect(measureLabel("utilisation.nvidia.com/gpu")).toBe("Utilisation, GPU");
    expect(measureLabel("classes.high.p95Ms")).toBe("p95 wait, class high");
    expect(usualMeasures(["utilisation.cpu", "utilisation.nvidia.com/gpu", "waitMeanMs"])).toEqual(["waitMeanMs", "utilisation.nvidia.com/gpu"]);
  });
});

describe("a CSV file", () => {
  it("quotes what needs it and runs nothing", () => {
    expect(csvOf([["＝1", "\r=2"]])).toBe('\'＝1,"\'\r=2"');
    expect(csvOf([["a,b", 'say "x"'], ["=1+1", "-3"]])).toBe('"a,b","say ""x"""\r\n\'=1+1,-3');
  });
});

describe("marks of an axis", () => {
  it("are round numbers within the span", () => {
    expect(roundMarks([1.2, 10.4])).toEqual([2, 4, 6, 8, 10]);
    expect(roundMarks([0.712, 0.748])).toHaveLength(3);
  });

  it("divide time as clocks do", () => {
    expect(roundMarks([950_000, 2_200_000], true)).toEqual([1_200_000, 1_500_000, 1_800_000, 2_100_000]);
    expect(roundMarks([0, 0], true).length).toBeLessThan(3);
  });
});
