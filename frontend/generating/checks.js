// Checks of answers, compiled from the schema when the page is built: no eval in the browser.
import Ajv from "ajv";
import standalone from "ajv/dist/standalone/index.js";

import { byPrefix, VALUES_BY_PREFIX } from "./byPrefix.js";
import { GROUPS } from "./groups.js";
import { definitions, SCHEMA_FILE } from "./schema.js";

const PREFIX = "virtual:checks/";

/** Return the module of one group: a check for each of its names. */
export function checksOf(group) {
  const names = GROUPS[group];
  if (names === undefined) throw new Error(`no group ${group} in generating/groups.js; there are ${Object.keys(GROUPS)}`);
  const ajv = new Ajv.default({
    code: { source: true, esm: true },
    discriminator: true,
    inlineRefs: false,
    loopRequired: 2,
    messages: false,
    strict: false,
    validateFormats: false,
  });
  ajv.addKeyword(VALUES_BY_PREFIX);
  ajv.addSchema({ $id: "answers", $defs: byPrefix(definitions()) });
  const refs = Object.fromEntries(names.map((name) => [`is${name}`, `answers#/$defs/${name}`]));
  // Where in the schema it failed is of no use to the page, and a third of the code. The path is
  // made before anything failed, for each row of a diff: a key stands in it as it is.
  const ESCAPES = '.replace(/~/g, "~0").replace(/\\//g, "~1")';
  return withoutUnread(standalone.default(ajv, refs).replace(/schemaPath:"[^"]*",/g, "").replaceAll(ESCAPES, ""));
}

// A schema stands beside its check whole, which reads a few lists of it; nothing reads what data is in.
function withoutUnread(code) {
  const read = new Map();
  for (const [, name, path] of code.matchAll(/(?<!const )\b(schema\d+)((?:\.\w+)*)/g)) read.set(name, [...(read.get(name) ?? []), path.split(".").slice(1)]);
  const schemas = /const (schema\d+) = (\{.*?\});(?=const |function |export )/gs;
  const parents = /, ?parentData(:\w+)?, ?parentDataProperty(:[^,]+)?, ?rootData(=data)?/g;
  return code.replace(schemas, (_, name, text) => `const ${name} = ${JSON.stringify(partsOf(JSON.parse(text), read.get(name) ?? []))};`).replace(parents, "");
}

function partsOf(schema, paths) {
  const kept = {};
  for (const path of paths) {
    if (path.length === 0) return schema;
    const last = path.at(-1);
    let [from, to] = [schema, kept];
    for (const name of path.slice(0, -1)) [from, to] = [from[name], (to[name] ??= {})];
    to[last] = from[last];
  }
  return kept;
}

/** The plug-in that serves them to the page. */
export function checks() {
  return {
    name: "checks-of-answers",
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      this.addWatchFile(SCHEMA_FILE.pathname);
      return checksOf(id.slice(PREFIX.length + 1));
    },
  };
}
