// Objects whose keys begin with the kind of their values: each value is checked in one pass over the keys.
import codegen from "ajv/dist/compile/codegen/index.js";
import util from "ajv/dist/compile/util.js";

const { _, not } = codegen;

const KEYWORD = "valuesByPrefix";

/** Return a schema with `patternProperties` of "^Prefix/" alone as `valuesByPrefix`.
 *
 * The page checks one such object at every tick, with hundreds of keys of a dozen kinds:
 * a pass and a regular expression per kind and key took most of the time of a check.
 */
export function byPrefix(schema) {
  return JSON.parse(JSON.stringify(schema), (_key, value) => (isByPrefix(value) ? replaced(value) : value));
}

function isByPrefix(value) {
  const patterns = Object.keys(value?.patternProperties ?? {});
  return value?.additionalProperties === false && patterns.length > 0 && patterns.every((one) => /^\^\w+\/$/.test(one));
}

function replaced({ patternProperties, ...rest }) {
  delete rest.additionalProperties;
  const values = Object.entries(patternProperties).map(([pattern, value]) => [pattern.slice(1), value]);
  return { ...rest, [KEYWORD]: Object.fromEntries(values) };
}

/** The keyword, for Ajv: a key that begins with none of the prefixes is an error. */
export const VALUES_BY_PREFIX = {
  keyword: KEYWORD,
  type: "object",
  schemaType: "object",
  error: { params: ({ params }) => _`{additionalProperty: ${params.key}}` },
  code(check) {
    const { gen, schema, data } = check;
    const valid = gen.var("valid", true);
    gen.forIn("key", data, (key) => {
      Object.keys(schema).forEach((prefix, at) => {
        const begins = _`${key}.startsWith(${prefix})`;
        if (at === 0) gen.if(begins);
        else gen.elseIf(begins);
        check.subschema({ keyword: KEYWORD, schemaProp: prefix, dataProp: key, dataPropType: util.Type.Str }, valid);
      });
      gen.else();
      gen.assign(valid, false);
      check.setParams({ key });
      check.error();
      gen.endIf();
      gen.if(not(valid), () => gen.break());
    });
    check.ok(valid);
  },
};
