"""JSON Schemas as type expressions, which each language writes in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]
_HEAD = "#/components/schemas/"
_PLAIN = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "flag",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Plain:
    """A text, integer, number, flag, null, bytes, or anything."""

    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """A component, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literals:
    """One of some values."""

    values: tuple[str | int | bool | None, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    item: Type


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with any keys."""

    value: Type


@dataclass(frozen=True, slots=True)
class Either:
    """One of some types."""

    types: tuple[Type, ...]


Type = Plain | Named | Literals | ListOf | MapOf | Either


def type_of(schema: Schema) -> Type:
    """Return the type of values that a schema allows."""
    if "$ref" in schema:
        return Named(schema["$ref"].removeprefix(_HEAD))
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return either([type_of(part) for part in schema[word]])
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return type_of(schema["allOf"][0])
    if "enum" in schema:
        return Literals(tuple(schema["enum"]))
    if "const" in schema:
        return Literals((schema["const"],))
    return _of_type(schema)


def _of_type(schema: Schema) -> Type:
    given = schema.get("type")
    if isinstance(given, list):
        return either([_of_type({**schema, "type": one}) for one in given])
    match given:
        case "array":
            return ListOf(type_of(schema.get("items") or {}))
        case "object":
            inner = schema.get("additionalProperties")
            return MapOf(type_of(inner) if isinstance(inner, dict) else Plain("any"))
        case "string" if schema.get("format") == "binary":
            return Plain("bytes")
        case str():
            return Plain(_PLAIN[given])
        case _:
            return Plain("any")


def either(types: list[Type]) -> Type:
    """Return the union; one type of one."""
    flat: list[Type] = []
    for one in types:
        flat += one.types if isinstance(one, Either) else [one]
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else Either(unique)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object."""

    name: str
    type: Type
    required: bool
    help: str


def fields_of(schema: Schema) -> list[Field]:
    """Return the fields of an object's schema, in its order."""
    required = set(schema.get("required") or ())
    return [
        Field(
            name,
            type_of(inner),
            required=name in required,
            help=inner.get("description", ""),
        )
        for name, inner in schema["properties"].items()
    ]


def is_object(schema: Schema) -> bool:
    """Return whether a component is an object with fields of its own."""
    return bool(schema.get("properties"))
