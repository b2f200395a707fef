// `npm run types`: writes the TypeScript types of all answers, and of their checks.
import { writeFileSync } from "node:fs";

import openapiTS, { astToString } from "openapi-typescript";

import { GROUPS } from "./groups.js";
import { document } from "./schema.js";

const HEAD = "// Generated from schema.json by `npm run types`. Do not edit by hand.\n\n";

/** Return each generated file with its text. */
export async function files() {
  const folder = new URL("../src/protocol/", import.meta.url);
  return new Map([
    [new URL("types.ts", folder), await types()],
    [new URL("checks.d.ts", folder), checkTypes()],
    [new URL("answers.ts", folder), answers()],
  ]);
}

async function types() {
  const options = { immutable: true, rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false };
  return HEAD + astToString(await openapiTS(document(), options));
}

function checkTypes() {
  const parts = Object.entries(GROUPS).map(([group, names]) => {
    const lines = names.map((name) => `  export const is${name}: import("@/protocol/checked").Check<import("@/protocol/types").${name}>;`);
    return [`declare module "virtual:checks/${group}" {`, ...lines, "}"].join("\n");
  });
  return `${HEAD}${parts.join("\n\n")}\n`;
}

function answers() {
  const named = Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => [name, group]));
  named.sort(([a], [b]) => (a < b ? -1 : 1));
  return `${HEAD}import type { Check } from "@/protocol/checked";
import type * as types from "@/protocol/types";

/** What may be asked for: the name of an answer -> its type. */
export interface Answers {
${named.map(([name]) => `  readonly ${name}: types.${name};`).join("\n")}
}

/** How each is checked; loaded when it is first asked for. */
export const CHECKS: { readonly [N in keyof Answers]: () => Promise<Check<Answers[N]>> } = {
${named.map(([name, group]) => `  ${name}: async () => (await import("virtual:checks/${group}")).is${name},`).join("\n")}
};
`;
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, text] of await files()) writeFileSync(file, text);
}
