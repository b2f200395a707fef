// What a policy may say, and what holds where it is silent: the schema that the server gives, once it is here.

import { fieldOf, type ArgumentInput } from "@/store/policy/profiles";
import { at } from "@/store/policy/paths";
import type { Switch } from "@/store/policy/switches";

const UNKNOWN: ArgumentInput = { kind: "text", choices: [], help: "", title: "", first: "", children: [] };

class Served {
  #policy = $state.raw<ArgumentInput>(UNKNOWN);

  /** Set the JSON schema of the policy document. */
  setSchema(schema: Readonly<Record<string, unknown>>): void {
    this.#policy = fieldOf(schema, schema["$defs"] as Readonly<Record<string, unknown>>);
  }

  /** Return what a switch may be, the default first; a text of which nothing is known. */
  inputOf(one: Switch): ArgumentInput {
    let found: ArgumentInput | undefined = this.#policy;
    for (const part of `spec.${one.path}`.split(".")) found = found?.children.find(([name]) => name === part)?.[1];
    if (found === undefined) return UNKNOWN;
    const first = found.first ?? "";
    return { ...found, first, choices: [...found.choices].sort((a, b) => Number(b === first) - Number(a === first)) };
  }

  /** Return what a switch is set to in a policy, or what holds without. */
  valueOf(one: Switch, document: unknown): unknown {
    return at(document, `spec.${one.path}`) ?? this.inputOf(one).first;
  }
}

export const served = new Served();
