"""The same types for the page."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

from api.generating.shapes import (
    Either,
    Field,
    ListOf,
    Literals,
    MapOf,
    Named,
    Plain,
    Type,
    fields_of,
    is_object,
    type_of,
)

_WORDS = {
    "text": "string",
    "integer": "number",
    "number": "number",
    "flag": "boolean",
    "null": "null",
    "bytes": "Blob",
    "any": "unknown",
}
_HEAD = "// The API's types. Made by `manage.py apitypes` from its schema; not edited by hand.\n"


def types(document: dict[str, Any]) -> str:
    """Return the module of types."""
    schemas = document["components"]["schemas"]
    parts = [
        _interface(n, s) if is_object(s) else _alias(n, s) for n, s in schemas.items()
    ]
    return "\n".join([_HEAD, *parts])


def _alias(name: str, schema: dict[str, Any]) -> str:
    return f"export type {name} = {text(type_of(schema))};\n"


def _interface(name: str, schema: dict[str, Any]) -> str:
    lines = _comment(schema.get("description", ""), "")
    lines.append(f"export interface {name} {{")
    for field in fields_of(schema):
        lines += _comment(field.help, "  ")
        lines.append(f"  readonly {_name(field)}: {text(field.type)};")
    return "\n".join([*lines, "}\n"])


def _name(field: Field) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", field.name)
    name = field.name if plain else json.dumps(field.name)
    return name if field.required else f"{name}?"


def _comment(words: str, indent: str) -> list[str]:
    lines = textwrap.wrap(" ".join(words.split()).replace("*/", "* /"), 110)
    if not lines:
        return []
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def text(type_: Type) -> str:
    """Return a type as TypeScript writes it."""
    match type_:
        case Plain(name):
            return _WORDS[name]
        case Named(name):
            return name
        case Literals(values):
            return " | ".join(json.dumps(value) for value in values)
        case ListOf(item):
            inner = text(item)
            return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
        case MapOf(value):
            return f"Readonly<Record<string, {text(value)}>>"
        case Either(types_):
            return " | ".join(text(one) for one in types_)
