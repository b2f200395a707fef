import { beforeAll, describe, expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import { policyChanges } from "@/store/policy/changes";
import { fairSharingOf, fairSharingPatch } from "@/store/policy/fairSharing";

const policy = (fairSharing: unknown, version = "v1beta2"): unknown => ({
  spec: { kueue: { apiVersion: `config.kueue.x-k8s.io/${version}`, fairSharing } },
});

describe("fair sharing", () => {
  it.each([
    [undefined, "classical"],
    [null, "classical"],
    [{}, "both"],
    [{ preemptionStrategies: [] }, "both"],
    [{ preemptionStrategies: ["LessThanInitialShare"] }, "initial"],
  ])("of %j is %s, as the real Kueue has it", (section, choice) => {
    expect(fairSharingOf(policy(section))).toBe(choice);
  });

  it("of v1beta1 is on by enable alone", () => {
    expect(fairSharingOf(policy({}, "v1beta1"))).toBe("classical");
    expect(fairSharingOf(policy({ enable: true }, "v1beta1"))).toBe("both");
  });

  it.each(["both", "final", "initial"] as const)("that is chosen as %s is read as such", (choice) => {
    const patch = fairSharingPatch(policy(null), choice) as { kueue: { fairSharing: unknown } };
    expect(fairSharingOf(policy(patch.kueue.fairSharing))).toBe(choice);
  });
});

describe("what two policies differ in", () => {
  beforeAll(() => withWords(Promise.resolve()));

  it("is one choice of fair sharing, in the words of the policy page", () => {
    const [both, classical] = [policy({ preemptionStrategies: ["LessThanOrEqualToFinalShare", "LessThanInitialShare"] }), policy(null)];
    expect(policyChanges(both, classical)).toEqual([
      { path: "kueue.fairSharing", ours: "Fair sharing: final share, then initial share", theirs: "Classical, no fair sharing" },
    ]);
    expect(policyChanges(both, policy({}))).toHaveLength(1); // an empty section means both: said as it is written
  });
  it("is each other field with both values", () => {
    const [before, after] = [{ spec: { simulation: { tickMs: 1000 } } }, { spec: { simulation: { tickMs: 500 } } }];
    expect(policyChanges(before, after)).toEqual([{ path: "simulation.tickMs", ours: "1000", theirs: "500" }]);
  });
  it("is no other order of the fields", () => {
    const [before, after] = [{ spec: { items: [{ a: 1, b: { c: 2, d: 3 } }] } }, { spec: { items: [{ b: { d: 3, c: 2 }, a: 1 }] } }];
    expect(policyChanges(before, after)).toEqual([]);
  });
});
