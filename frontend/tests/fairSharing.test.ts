import { describe, expect, it } from "vitest";

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
