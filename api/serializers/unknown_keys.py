"""Keys of a request body that nobody reads: an error, not silence."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers


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


def _problem(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(
        key.lower(), {name.lower(): name for name in known}
    )
    names = [name for name in known if near and name.lower() == near[0]]
    hint = f"; did you mean {names[0]}?" if names else ""
    return f"unknown key{hint}; known: {', '.join(known) or 'none'}"
