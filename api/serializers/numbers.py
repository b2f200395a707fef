"""Numbers of a JSON body that are no numbers: an error, where "600" would do as 600."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers

_NUMBERS = (serializers.IntegerField, serializers.FloatField)
_LISTS = (serializers.ListSerializer, serializers.ListField)
#: So much of what was given is shown.
_SHOWN = 40


def wrong_numbers(
    serializer: serializers.Serializer[Any], body: Any
) -> dict[str, list[str]]:
    """Return what is wrong with every value that is to be a number and is none.

    Values below nested serializers are named by their path. A null, and whether a
    number may be as it is, are left to the serializer.
    """
    return dict(_wrong(serializer, body, ""))


def _wrong(field: object, given: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    if isinstance(field, _NUMBERS):
        if given is not None and not _is_number(given):
            yield path, [f"expected a number, got {json.dumps(given):.{_SHOWN}}"]
    elif isinstance(field, _LISTS) and isinstance(given, list):
        for index, one in enumerate(given):
            yield from _wrong(field.child, one, f"{path}[{index}]")
    elif isinstance(field, serializers.Serializer) and isinstance(given, Mapping):
        for name, child in field.fields.items():
            if name in given:
                place = f"{path}.{name}" if path else name
                yield from _wrong(child, given[name], place)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
