"""The live protocol as TypeScript: types, and the shapes that its parser checks.

The page parses every message at its border against these shapes, so a server
of another version is an error with a path and never a wrong picture.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args

import msgspec

from sandbox.page import wire

_FIELD = re.compile(r"^    (\w+): [^#]*?#\s*(.+)$")
_HEAD = """\
// Made by `manage.py wiretypes` from sandbox/page/wire.py. Do not edit by hand.

export const PROTOCOL = {protocol};
"""
_UNIONS: dict[str, Any] = {
    "AnyRow": wire.AnyRow,
    "ServerMessage": wire.ServerMessage,
}

_Kind = Literal["text", "integer", "number", "flag", "any", "null"]
_PLAIN: dict[type, tuple[_Kind, str]] = {
    msgspec.inspect.StrType: ("text", "string"),
    msgspec.inspect.IntType: ("integer", "number"),
    msgspec.inspect.FloatType: ("number", "number"),
    msgspec.inspect.BoolType: ("flag", "boolean"),
    msgspec.inspect.AnyType: ("any", "unknown"),
    msgspec.inspect.NoneType: ("null", "null"),
}


def generate() -> str:
    """Return the whole of `frontend/src/protocol/wire.ts`."""
    parts = [_HEAD.format(protocol=wire.PROTOCOL)]
    parts += [_interface(struct) for struct in structs()]
    parts += [_union(name) for name in _UNIONS]
    parts.append('export type Phase = WorkloadRow["phase"];\n')
    parts.append('export type Kind = AnyRow["kind"];\n')
    parts.append(_shapes())
    parts.append(_PARSER)
    return "\n".join(parts)


def structs() -> list[type[wire.Wire]]:
    """Return every struct that travels, in the order of the module."""
    found = [
        value
        for value in vars(wire).values()
        if isinstance(value, type) and issubclass(value, wire.Wire)
    ]
    return [struct for struct in found if struct not in (wire.Wire, wire.Row)]


def _interface(struct: type[wire.Wire]) -> str:
    lines = [*_comment(inspect.getdoc(struct) or "", indent="")]
    lines.append(f"export interface {struct.__name__} {{")
    tag = _tag(struct)
    if tag is not None:
        lines.append(f'  readonly {tag[0]}: "{tag[1]}";')
    comments = dict(_comments(struct))
    for field in msgspec.structs.fields(struct):
        lines += _comment(comments.get(field.name, ""), indent="  ")
        lines.append(f"  readonly {field.encode_name}: {_type(field.type)};")
    return "\n".join([*lines, "}\n"])


def _tag(struct: type[msgspec.Struct]) -> tuple[str, str] | None:
    config = struct.__struct_config__
    if config.tag is None:
        return None
    return str(config.tag_field), str(config.tag)


def _comments(struct: type) -> Iterator[tuple[str, str]]:
    """Yield (field, comment) of the field comments, inherited ones too."""
    for cls in reversed(struct.__mro__):
        if cls.__module__ == wire.__name__:
            for line in inspect.getsource(cls).splitlines():
                if match := _FIELD.match(line):
                    yield match[1], match[2]


def _comment(text: str, *, indent: str) -> list[str]:
    lines = text.strip().splitlines()
    if not lines:
        return []
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    body = [f"{indent} * {line}".rstrip() for line in lines]
    return [f"{indent}/**", *body, f"{indent} */"]


def _type(annotation: Any) -> str:
    return _type_of(msgspec.inspect.type_info(annotation))


def _type_of(info: msgspec.inspect.Type) -> str:
    match info:
        case msgspec.inspect.Metadata(type=inner):
            return _type_of(inner)
        case msgspec.inspect.LiteralType(values=values):
            return " | ".join(json.dumps(value) for value in values)
        case msgspec.inspect.ListType(item_type=item) if _rows(item):
            return "readonly AnyRow[]"
        case msgspec.inspect.ListType(item_type=item):
            name = _type_of(item)
            return f"readonly ({name})[]" if " | " in name else f"readonly {name}[]"
        case msgspec.inspect.DictType(value_type=value):
            return f"Readonly<Record<string, {_type_of(value)}>>"
        case msgspec.inspect.UnionType(types=types):
            return " | ".join(_type_of(part) for part in types)
        case msgspec.inspect.StructType(cls=cls):
            return cls.__name__
        case _:
            return _PLAIN[type(info)][1]


def _rows(info: msgspec.inspect.Type) -> bool:
    return isinstance(info, msgspec.inspect.UnionType) and len(info.types) == len(
        get_args(wire.AnyRow)
    )


def _union(name: str) -> str:
    members = "".join(f"\n  | {part.__name__}" for part in get_args(_UNIONS[name]))
    return f"export type {name} ={members};\n"


def _shapes() -> str:
    records = {struct.__name__: _fields(struct) for struct in structs()}
    body = json.dumps(records, indent=1)
    return textwrap.dedent("""\
        type Shape =
          | "text"
          | "integer"
          | "number"
          | "flag"
          | "any"
          | "null"
          | { readonly one: readonly string[] }
          | { readonly list: Shape }
          | { readonly map: Shape }
          | { readonly either: readonly Shape[] }
          | { readonly record: string }
          | { readonly tagged: string; readonly by: string }
          | { readonly patches: string };

        type Fields = Readonly<Record<string, Shape>>;

        const TAGGED: Readonly<Record<string, Readonly<Record<string, string>>>> =
        """).rstrip("\n") + (
        f" {json.dumps(_tagged(), indent=1)};\n\n"
        f"const SHAPES: Readonly<Record<string, Fields>> = {body};\n"
    )


def _tagged() -> dict[str, dict[str, str]]:
    return {
        name: {str(_tag(part)[1]): part.__name__ for part in get_args(union)}  # type: ignore[index]  # every member of a union has a tag
        for name, union in _UNIONS.items()
    }


def _fields(struct: type[wire.Wire]) -> dict[str, Any]:
    tag = _tag(struct)
    fields: dict[str, Any] = {tag[0]: {"one": [tag[1]]}} if tag else {}
    for field in msgspec.structs.fields(struct):
        fields[field.encode_name] = _shape(msgspec.inspect.type_info(field.type))
    return fields


def _shape(info: msgspec.inspect.Type) -> Any:
    match info:
        case msgspec.inspect.Metadata(extra={"patches": union}):
            return {"patches": union}
        case msgspec.inspect.LiteralType(values=values):
            return {"one": list(values)}
        case msgspec.inspect.ListType(item_type=item) if _rows(item):
            return {"list": {"tagged": "AnyRow", "by": "kind"}}
        case msgspec.inspect.ListType(item_type=item):
            return {"list": _shape(item)}
        case msgspec.inspect.DictType(value_type=value):
            return {"map": _shape(value)}
        case msgspec.inspect.UnionType(types=types):
            return {"either": [_shape(part) for part in types]}
        case msgspec.inspect.StructType(cls=cls):
            return {"record": cls.__name__}
        case _:
            return _PLAIN[type(info)][0]


_PARSER = """\
/** A message that is not of this protocol; says where and what was expected. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** Return the message of a text frame; throws WireError naming the path. */
export function parseServerMessage(text: string): ServerMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WireError("message: expected JSON");
  }
  check({ tagged: "ServerMessage", by: "type" }, value, "message");
  return value as ServerMessage;
}

/** Return the row, checked; for rows that arrive by REST. */
export function parseRow(value: unknown): AnyRow {
  check({ tagged: "AnyRow", by: "kind" }, value, "row");
  return value as AnyRow;
}

/** Return the sample, checked; for samples that arrive by REST. */
export function parseSample(value: unknown): Sample {
  check({ record: "Sample" }, value, "sample");
  return value as Sample;
}

/** Return the event line, checked; for events that arrive by REST. */
export function parseEventLine(value: unknown): EventLine {
  check({ record: "EventLine" }, value, "event");
  return value as EventLine;
}

/** Return the news of a lesson, checked; for news that arrive by REST. */
export function parseLessonNews(value: unknown): LessonNews {
  check({ record: "LessonNews" }, value, "lesson");
  return value as LessonNews;
}

function check(shape: Shape, value: unknown, path: string): void {
  if (typeof shape === "string") {
    if (!plain(shape, value)) throw wrong(path, shape, value);
  } else if ("one" in shape) {
    if (typeof value !== "string" || !shape.one.includes(value)) {
      throw wrong(path, shape.one.join(" | "), value);
    }
  } else if ("list" in shape) {
    if (!Array.isArray(value)) throw wrong(path, "a list", value);
    value.forEach((item, index) => {
      check(shape.list, item, `${path}[${String(index)}]`);
    });
  } else if ("map" in shape) {
    for (const [name, item] of Object.entries(record(value, path))) {
      check(shape.map, item, `${path}.${name}`);
    }
  } else if ("either" in shape) {
    if (!shape.either.some((part) => holds(part, value, path))) {
      throw wrong(path, "another type", value);
    }
  } else if ("record" in shape) {
    checkFields(shape.record, record(value, path), path);
  } else if ("tagged" in shape) {
    const fields = record(value, path);
    const tag = fields[shape.by];
    const name = typeof tag === "string" ? TAGGED[shape.tagged]?.[tag] : undefined;
    if (name === undefined) throw wrong(`${path}.${shape.by}`, shape.tagged, tag);
    checkFields(name, fields, path);
  } else {
    checkPatches(shape.patches, record(value, path), path);
  }
}

function checkFields(name: string, value: Readonly<Record<string, unknown>>, path: string): void {
  for (const [field, shape] of Object.entries(SHAPES[name] ?? {})) {
    check(shape, value[field], `${path}.${field}`);
  }
}

function checkPatches(union: string, value: Readonly<Record<string, unknown>>, path: string): void {
  for (const [key, patch] of Object.entries(value)) {
    const name = TAGGED[union]?.[key.slice(0, key.indexOf("/"))];
    const shapes = name === undefined ? undefined : SHAPES[name];
    if (shapes === undefined) throw wrong(`${path}.${key}`, "a row's key", key);
    for (const [field, item] of Object.entries(record(patch, `${path}.${key}`))) {
      const shape = shapes[field];
      if (shape === undefined) throw wrong(`${path}.${key}`, "a field of the row", field);
      check(shape, item, `${path}.${key}.${field}`);
    }
  }
}

function holds(shape: Shape, value: unknown, path: string): boolean {
  try {
    check(shape, value, path);
    return true;
  } catch {
    return false;
  }
}

function plain(shape: "text" | "integer" | "number" | "flag" | "any" | "null", value: unknown): boolean {
  switch (shape) {
    case "text":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "any":
      return value !== undefined;
  }
}

function record(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(path, "an object", value);
  }
  return value as Readonly<Record<string, unknown>>;
}

function wrong(path: string, expected: string, value: unknown): WireError {
  const given = value === undefined ? "nothing" : JSON.stringify(value).slice(0, 80);
  return new WireError(`${path}: expected ${expected}, got ${given}`);
}
"""
