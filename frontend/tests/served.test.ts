import { describe, expect, it } from "vitest";

import { served } from "@/store/policy/served.svelte";

const one = { path: "simulation.binding", word: "switch.binding", help: "help.binding" } as const;
const of = (properties: object): object => ({ type: "object", properties });

describe("a switch of the policy", () => {
  it("is a text of which nothing holds until the schema is here", () => {
    expect(served.inputOf(one)).toMatchObject({ kind: "text", first: "", choices: [] });
  });

  it("has the choices of the schema, its default first, and the default where the policy is silent", () => {
    const binding = { enum: ["compare-and-set", "kubernetes"], default: "kubernetes" };
    served.setSchema({ $ref: "#/$defs/Policy", $defs: { Policy: of({ spec: { $ref: "#/$defs/Spec" } }), Spec: of({ simulation: of({ binding }) }) } });
    expect(served.inputOf(one)).toMatchObject({ kind: "choice", choices: ["kubernetes", "compare-and-set"] });
    expect(served.valueOf(one, { spec: {} })).toBe("kubernetes");
    expect(served.valueOf(one, { spec: { simulation: { binding: "compare-and-set" } } })).toBe("compare-and-set");
  });
});
