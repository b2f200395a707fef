"""Numbers and switches of a JSON body that are none: an error, where "600" would do as 600.

A number out of its range is named with the range and what was given.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.views import APIView

from api.errors import coded
from api.permissions import READING
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import schemas
from scheduler.model.problems import Form, RequestProblem, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import unseen

_NUMBERS = (serializers.IntegerField, serializers.FloatField)
_LISTS = (serializers.ListSerializer, serializers.ListField)
#: So much of what was given is shown.
_SHOWN = 40


def wrong_values(
    serializer: serializers.Serializer[Any], body: Any
) -> dict[str, list[ErrorDetail]]:
    """Return the faults of every value that is to be a number, a choice, or true or false.

    Values below nested serializers are named by their path. A null is left to the
    serializer.
    """
    return dict(_wrong(serializer, body, ""))


def _wrong(
    field: object, given: Any, path: str
) -> Iterator[tuple[str, list[ErrorDetail]]]:
    wanted = _wanted(field, given)
    if wanted is not None:
        shown = f"{json.dumps(given):.{_SHOWN}}"
        yield path, [coded(expected(wanted, given=shown))]
    elif isinstance(field, serializers.ChoiceField) and isinstance(given, str):
        if given not in field.choices and not (field.allow_blank and not given):
            known = [str(one) for one in field.choices if one is not None]
            yield path, [coded(no_choice(given, known))]
    elif isinstance(field, _LISTS) and isinstance(given, list):
        for index, one in enumerate(given):
            yield from _wrong(field.child, one, f"{path}[{index}]")
    elif isinstance(field, serializers.Serializer) and isinstance(given, Mapping):
        for name, child in field.fields.items():
            if name in given:
                place = f"{path}.{name}" if path else name
                yield from _wrong(child, given[name], place)


def _wanted(field: object, given: Any) -> Sentence | Wanted | None:
    """Return what a field expects where that is something else; None where it is not."""
    if given is None:
        return None
    if isinstance(field, serializers.BooleanField):
        return None if isinstance(given, bool) else Wanted.FLAG
    if not isinstance(field, _NUMBERS):
        return None
    if not _is_number(given):
        return Wanted.NUMBER
    if isinstance(field, serializers.IntegerField) and given % 1:
        return Wanted.WHOLE
    if field.min_value is not None and given < field.min_value:
        return Wanted.AT_LEAST.said(least=field.min_value)
    if field.max_value is not None and given > field.max_value:
        return Wanted.AT_MOST.said(most=field.max_value)
    return None


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def seen(text: str) -> None:
    """Refuse a title or name with a character that cannot be seen.

    Control characters, marks of direction, zero width and ends of lines.
    """
    if letter := unseen(text):
        raise serializers.ValidationError(
            coded(expected(Wanted.ONE_LINE, given=f"U+{ord(letter):04X}"))
        )


# ------------------------------------------------------------------------
# Keys of a body and parameters of a query that nobody reads: an error, not silence.


#: Field -> what is wrong with it.
Wrong = dict[str, list[ErrorDetail]]


def unknown_keys(serializer: serializers.Serializer[Any], body: Any) -> Wrong:
    """Return the faults of every key that the serializer does not have.

    Keys below nested serializers are named by their path. A body that is not an
    object is left to the serializer.
    """
    return dict(_unknown(serializer, body, ""))


def _unknown(
    field: object, given: Any, path: str
) -> Iterator[tuple[str, list[ErrorDetail]]]:
    if isinstance(field, serializers.ListSerializer) and isinstance(given, list):
        for index, one in enumerate(given):
            yield from _unknown(field.child, one, f"{path}[{index}]")
    elif isinstance(field, serializers.Serializer) and isinstance(given, Mapping):
        for key, value in given.items():
            place = f"{path}.{key}" if path else str(key)
            if key in field.fields:
                yield from _unknown(field.fields[key], value, place)
            else:
                yield place, _problem(str(key), list(field.fields))


def unknown_parameters(view: APIView, given: Iterable[str]) -> Wrong:
    """Return the faults of every parameter that the operation does not document.

    Nothing where any is read: the fields of a table.
    """
    if not given or (schema := _schema_of(view)) is None:
        return {}
    found = [p for p in schema.get_override_parameters() if p.location == _QUERY]
    known = [parameter.name for parameter in found]
    if len(view.renderer_classes) > 1:
        known.append("format")
    wrong = [] if any(map(_takes_any, found)) else sorted(set(given) - set(known))
    return {
        name: _problem(name, known, Form.UNKNOWN_PARAMETER, Form.NEAR_PARAMETER)
        for name in wrong
    }


def wrong_choices(view: APIView, given: Mapping[str, str]) -> Wrong:
    """Return one problem per parameter whose value is not among its choices."""
    if not given or (schema := _schema_of(view)) is None:
        return {}
    found = [p for p in schema.get_override_parameters() if p.location == _QUERY]
    return {
        parameter.name: [coded(no_choice(given[parameter.name], parameter.enum))]
        for parameter in found
        if parameter.enum
        and given.get(parameter.name, parameter.enum[0]) not in parameter.enum
    }


def no_choice(given: str, choices: Iterable[str]) -> Sentence:
    """Return the problem of a value that is not among the choices, with the nearest choice."""
    known = [*choices]
    wanted = Wanted.ONE_OF.said(known=", ".join(known))
    near = _near(given, known)
    hint = "" if near is None else f"; did you mean {near}?"
    return expected(wanted, given=f"{given[:40]!r}{hint}")


def _near(given: str, known: list[str]) -> str | None:
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), lower, 1)
    return lower[near[0]] if near else None


def reads_no_body(view: APIView) -> bool:
    """Return whether the operation changes something and documents no body."""
    method = view.request.method
    if method in READING or (schema := _schema_of(view)) is None:
        return False
    return method == "DELETE" or schema.get_request_serializer() is None


def _schema_of(view: APIView) -> Any:
    """Return the operation's documentation; None for a method that does not exist."""
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


def _problem(
    name: str,
    known: list[str],
    alone: Form = Form.UNKNOWN_KEY,
    near: Form = Form.NEAR_KEY,
) -> list[ErrorDetail]:
    """Return the faults of a name that is not known, and what was probably meant."""
    names = ", ".join(known) or "none"
    if (meant := _near(name, known)) is None:
        return [coded(alone.said(known=names))]
    return [coded(near.said(known=names, near=meant))]


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


def unknown_at_top(document: Mapping[str, Any]) -> Wrong:
    """Return the faults of each key of an object that its kind does not have.

    An option of a write is none of any kind's, also where its fields are not listed.
    """
    kind = str(document.get("kind"))
    known = [*schemas.fields_of(schemas.listed(BY_KIND[kind].group, kind))]
    found: Wrong = {}
    for key in map(str, document):
        if key in _OPTIONS and key not in known:
            found[key] = [coded(RequestProblem.OPTION.said())]
        elif known and key not in known:
            found[key] = _problem(key, known)
    return found
