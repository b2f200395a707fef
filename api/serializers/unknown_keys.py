"""Keys of a body and parameters of a query that nobody reads: an error, not silence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.views import APIView

from api.permissions import READING
from scheduler.input.manifests.kinds import BY_KIND, KUEUE
from scheduler.input.manifests.known_fields.table import kinds, types


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
                yield place, [problem(str(key), list(field.fields))]


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
    return {name: [problem(name, known, "parameter")] for name in wrong}


def wrong_choices(view: APIView, given: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what is wrong with every parameter that has choices and is none of them."""
    if not given or (schema := _schema_of(view)) is None:
        return {}
    found = [p for p in schema.get_override_parameters() if p.location == _QUERY]
    return {
        parameter.name: [no_choice(given[parameter.name], parameter.enum)]
        for parameter in found
        if parameter.enum
        and given.get(parameter.name, parameter.enum[0]) not in parameter.enum
    }


def no_choice(given: str, choices: Iterable[str]) -> str:
    """Return what is wrong with a value that is none of some, and what was probably meant."""
    known = [*choices]
    hint = near_to(given, known)
    return f"expected one of {', '.join(known)}, got {given[:40]!r}{hint}"


def near_to(given: str, known: list[str]) -> str:
    """Return "; did you mean x?" for what is like something known, else ""."""
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), lower, 1)
    return f"; did you mean {lower[near[0]]}?" if near else ""


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


def problem(key: str, known: list[str], word: str = "key") -> str:
    """Return what is wrong with a name that is not known, and what was probably meant."""
    hint = near_to(key, known)
    return f"unknown {word}{hint}; known: {', '.join(known) or 'none'}"


#: Options of a write that are sent beside it, and are no part of any object.
_OPTIONS = frozenset(
    [
        "dryRun",
        "fieldManager",
        "fieldValidation",
        "force",
        "gracePeriodSeconds",
        "orphanDependents",
        "preconditions",
        "pretty",
        "propagationPolicy",
    ]
)


def unknown_at_top(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what is wrong with each key of an object that its kind does not have.

    Of kinds whose fields are not listed only the options of a write are known to be
    none of theirs.
    """
    kind = str(document.get("kind"))
    known = types().get(kind) if kind in kinds() else None
    if known is None and BY_KIND[kind].group == KUEUE:
        known = dict.fromkeys(_KUEUE.get(kind, _USUAL), "")
    given = [str(key) for key in document]
    if known is None:
        return {
            key: ["this is an option of the request; give it in the query"]
            for key in given
            if key in _OPTIONS
        }
    return {key: [problem(key, list(known))] for key in given if key not in known}


_USUAL = ("apiVersion", "kind", "metadata", "spec", "status")
_KUEUE = {
    "WorkloadPriorityClass": ("apiVersion", "kind", "metadata", "value", "description")
}
