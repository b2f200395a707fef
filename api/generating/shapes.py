"""JSON Schemas as type expressions, which each language writes in its own way."""

from __future__ import annotations

import re
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


# ------------------------------------------------------------------------
# The operations of an OpenAPI document, as a client calls them.


Document = dict[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
_PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    path: str  # below /api/v1
    help: str
    places: list[str]  # of the path, in its order
    query: list[Field]
    body: Type | None
    body_media: str
    body_required: bool
    answer: Type | None
    answer_media: str


def operations_of(document: Document) -> list[Operation]:
    """Return every operation, by name."""
    found = [
        _operation(path, method, one)
        for path, methods in document["paths"].items()
        for method, one in methods.items()
        if method in _METHODS
    ]
    return sorted(found, key=lambda operation: operation.name)


def name_of(operation_id: str) -> str:
    """Return what an operation is called: `sandboxes_actions_play_create` is `play`."""
    found = re.fullmatch(r"sandboxes_actions_(\w+)_create", operation_id)
    return found[1] if found else operation_id


_TAKEN = {"import": "import_files", "delete": "delete_objects"}


def _operation(path: str, method: str, one: Document) -> Operation:
    name = name_of(one["operationId"])
    media, body = _content(one.get("requestBody"))
    answer_media, answer = _answer(one)
    return Operation(
        name=_TAKEN.get(name, name),
        method=method.upper(),
        path=path.removeprefix(_PREFIX),
        help=_sentence(one.get("description", name)),
        places=re.findall(r"{(\w+)}", path),
        query=[_parameter(p) for p in one.get("parameters", ()) if p["in"] == "query"],
        body=body,
        body_media=media,
        body_required=_required(one),
        answer=answer,
        answer_media=answer_media,
    )


def _required(one: Document) -> bool:
    return bool((one.get("requestBody") or {}).get("required"))


def _content(holder: Document | None) -> tuple[str, Type | None]:
    """Return the media type that a client uses and its type: JSON before others."""
    content = (holder or {}).get("content") or {}
    if not content:
        return "application/json", None
    media = "application/json" if "application/json" in content else next(iter(content))
    return media, type_of(content[media].get("schema") or {})


def _answer(one: Document) -> tuple[str, Type | None]:
    for code, holder in one["responses"].items():
        if code.startswith("2"):
            return _content(holder)
    return "application/json", None


def _parameter(parameter: Document) -> Field:
    return Field(
        parameter["name"],
        type_of(parameter["schema"]),
        required=bool(parameter.get("required")),
        help=parameter.get("description", ""),
    )


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("\\", "").replace('"""', "'")
