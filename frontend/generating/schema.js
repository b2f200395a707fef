// The one schema of all answers, in the forms that the two generators take.
import { readFileSync } from "node:fs";

export const SCHEMA_FILE = new URL("../src/protocol/schema.json", import.meta.url);
const HEAD = "#/components/schemas/";

// Words that say nothing about which values are allowed, or that only a form needs.
const SILENT = new Set(["description", "format", "readOnly", "writeOnly", "title", "default"]);

/** Return the OpenAPI document that `manage.py apitypes` wrote. */
export function document() {
  return JSON.parse(readFileSync(SCHEMA_FILE, "utf8"));
}

/** Return the components as definitions of one JSON Schema, to compile checks of.
 *
 * What a diff may change of a row shares its fields with the row: half the code.
 */
export function definitions() {
  const found = { ...document().components.schemas };
  for (const name of Object.keys(found)) if (`${name}Patch` in found) share(found, name);
  return plain(found);
}

function share(schemas, name) {
  const { properties, required, ...row } = schemas[name];
  const shared = schemas[`${name}Patch`].properties;
  const own = Object.fromEntries(Object.entries(properties).filter(([field]) => !(field in shared)));
  schemas[`${name}Fields`] = { type: "object", properties: shared };
  schemas[name] = { ...row, properties: own, required, $ref: `${HEAD}${name}Fields` };
  schemas[`${name}Patch`] = { $ref: `${HEAD}${name}Fields`, propertyNames: { enum: Object.keys(shared) } };
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  // A field of such a name has a schema of its own, an object.
  const kept = Object.entries(value).filter(([word, inner]) => !SILENT.has(word) || (typeof inner === "object" && inner !== null));
  if ("propertyName" in value && "mapping" in value) return { propertyName: value.propertyName };
  const nullable = nullableType(value.anyOf);
  if (nullable !== null) return { type: nullable };
  return Object.fromEntries(
    kept.map(([word, inner]) => [word, word === "$ref" ? inner.replace(HEAD, "#/$defs/") : plain(inner)]),
  );
}

// One type or null, the short way; what else is allowed of it must be nothing.
function nullableType(options) {
  if (options?.length !== 2 || options.some((one) => Object.keys(one).length !== 1 || typeof one.type !== "string")) return null;
  return options.map((one) => one.type);
}
