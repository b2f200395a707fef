"""Keys of a body and parameters of a query that nobody reads: an error, not silence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.views import APIView

from api.permissions import READING


def unknown_keys(
    serializer: serializers.Serializer[Any], body: Any
) -> dict[str, list[str]]:
    """Return what is wrong with every key that the serializer does not have.

    Keys below nested serializers are named by their path. A body that is not an
    object is left to the serializer.
    """
    return dict(_unknown(serializer, body, ""))


def _unknown(field: object, given: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    if isinstance(field, serializers.ListSerializer) and isinstance(given, list):
        for index, one in enumerate(given):
            yield from _unknown(field.child, one, f"{path}[{index}]")
    elif isinstance(field, serializers.Serializer) and isinstance(given, Mapping):
        for key, value in given.items():
            place = f"{path}.{key}" if path else str(key)
            if key in field.fields:
                yield from _unknown(field.fields[key], value, place)
            else:
                yield place, [_problem(str(key), list(field.fields))]


def unknown_parameters(view: APIView, given: Iterable[str]) -> dict[str, list[str]]:
    """Return what is wrong with every parameter that the operation does not document.

    Nothing where any is read: the fields of a table.
    """
    if not given or (schema := _schema_of(view)) is None:
        return {}
    found = [p for p in schema.get_override_parameters() if p.location == _QUERY]
    known = [parameter.name for parameter in found]
    if len(view.renderer_classes) > 1:
        known.append("format")
    wrong = [] if any(map(_takes_any, found)) else sorted(set(given) - set(known))
    return {name: [_problem(name, known, "parameter")] for name in wrong}


def reads_no_body(view: APIView) -> bool:
    """Return whether the operation changes something and documents no body."""
    method = view.request.method
    if method in READING or (schema := _schema_of(view)) is None:
        return False
    return method == "DELETE" or schema.get_request_serializer() is None


def _schema_of(view: APIView) -> Any:
    """Return the operation's documentation; None for a method that is not there."""
    handler = getattr(view, str(view.request.method).lower(), None)
    kind = getattr(handler, "kwargs", {}).get("schema")
    if kind is None:
        return None
    schema = kind()
    schema.view, schema.method = view, view.request.method
    return schema


_QUERY = OpenApiParameter.QUERY


def _takes_any(parameter: OpenApiParameter) -> bool:
    return isinstance(parameter.type, dict) and "additionalProperties" in parameter.type


def _problem(key: str, known: list[str], word: str = "key") -> str:
    near = difflib.get_close_matches(
        key.lower(), {name.lower(): name for name in known}
    )
    names = [name for name in known if near and name.lower() == near[0]]
    hint = f"; did you mean {names[0]}?" if names else ""
    return f"unknown {word}{hint}; known: {', '.join(known) or 'none'}"
