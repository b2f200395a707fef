"""Numbers and switches of a JSON body that are none: an error, where "600" would do as 600.

A number out of its range is named with the range and what was given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from api.errors import coded
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import unseen

_NUMBERS = (serializers.IntegerField, serializers.FloatField)
_LISTS = (serializers.ListSerializer, serializers.ListField)
#: So much of what was given is shown.
_SHOWN = 40


def wrong_values(
    serializer: serializers.Serializer[Any], body: Any
) -> dict[str, list[ErrorDetail]]:
    """Return the faults of every value that is to be a number, or true or false.

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
    return _range_wanted(field, given)


def _range_wanted(field: Any, given: float) -> Sentence | None:
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
