import { describe, expect, it } from "vitest";

import { answerRequest } from "@/store/edits/checkAnswer";
import { amountsText, witnessOf } from "@/store/explain/usage";
import { listedOf } from "@/store/live/queueChecks.svelte";
import { fieldsOf, MODES, modeOf, withFields } from "@/store/policy/checkRules";
import { checksNeeded, faceOfWorkload } from "@/store/rows/cards";

import { workload } from "./worlds";

describe("an admission check", () => {
  it("is answered by the status of the Workload, and by nothing else of it", () => {
    expect(answerRequest("1", "Workload/team/a", "budget", "Rejected", "2026-01-01T00:00:08Z")).toEqual({
      path: "/sandboxes/1/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/a/status",
      body: { status: { admissionChecks: [{ name: "budget", state: "Rejected", message: "", lastTransitionTime: "2026-01-01T00:00:08Z" }] } },
    });
  });
});

describe("a reservation", () => {
  const strategy = { admissionChecks: [{ name: "budget" }, { name: "spot", onFlavors: ["spot"] }] };
  const checks = listedOf({ spec: { admissionChecksStrategy: strategy } });
  const held = (flavor: string): ReturnType<typeof workload> =>
    workload({ phase: "reserved", podSets: [{ name: "main", count: 1, minCount: null, requests: {}, flavors: { cpu: flavor } }] });

  it("needs the checks of its flavors, and those of all flavors", () => {
    expect([checksNeeded(checks, held("spot")), checksNeeded(checks, held("plain"))]).toEqual([["budget", "spot"], ["budget"]]);
  });
  it("says on its card what it waits for", () => {
    const note = (names: readonly string[]): string => faceOfWorkload(held("plain"), names).note;
    expect(note(["budget"])).toBe("waits for check budget · QuotaReserved");
    expect(note(["budget", "spot"])).toBe("waits until all are ready: budget, spot · QuotaReserved");
    expect(note([])).toBe("waits for its checks · QuotaReserved");
  });
});

describe("the rule of a check", () => {
  it.each(MODES)("that is set to answer %s is read as such", (mode) => {
    const [rule] = withFields([], "budget", fieldsOf(mode, undefined));
    expect([rule?.["check"], modeOf(rule)]).toEqual(["budget", mode]);
  });
  it("that there is none is an answer at once", () => {
    expect(modeOf(undefined)).toBe("instant");
  });
  it("keeps what the form does not show, and the other rules", () => {
    const rules = [{ check: "a" }, { check: "budget", byHand: true, recorded: [{ workload: "team/a" }] }];
    expect(withFields(rules, "budget", fieldsOf("after", rules[1]))).toEqual([
      { check: "a" },
      { check: "budget", byHand: false, probability: 1, after: "30s", recorded: [{ workload: "team/a" }] },
    ]);
  });
});

describe("usage that decays", () => {
  it("is explained by who waits before who runs", () => {
    const lists = { waiting: [], failed: [], inactive: ["c"], reserved: [], admitted: ["b"], finished: ["d"] };
    expect([witnessOf(lists), witnessOf({ ...lists, waiting: ["a"] }), witnessOf({ ...lists, admitted: [], inactive: [] })]).toEqual(["b", "a", undefined]);
  });
  it("is written resource by resource", () => {
    expect([amountsText({ cpu: "1.5", memory: "2" }), amountsText({})]).toEqual(["cpu 1.5, memory 2", "0"]);
  });
});
