// `node generating/outside.js FILE`: what tools of others make of an OpenAPI document.
// Redocly's recommended rules, then the TypeScript types of the whole of it; status 1 with each problem.
import { readFileSync } from "node:fs";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";

// The messages of the socket stand among the components; docs/asyncapi.json says where they are sent.
const RULES = { extends: ["recommended"], rules: { "no-unused-components": "off" } };

const source = readFileSync(process.argv[2], "utf8");
const problems = await lintFromString({ source, absoluteRef: "openapi.json", config: await createConfig(RULES) });
for (const one of problems) process.stderr.write(`${one.severity} ${one.ruleId}: ${one.message} ${one.location[0]?.pointer ?? ""}\n`);
process.stdout.write(astToString(await openapiTS(JSON.parse(source))));
process.exitCode = problems.length > 0 ? 1 : 0;
