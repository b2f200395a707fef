"""The tables of fields, read once: type -> field -> type of its value."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from scheduler.input.manifests.known_fields.controllers import CONTROLLERS
from scheduler.input.manifests.known_fields.other_jobs import OTHER_JOBS
from scheduler.input.manifests.known_fields.pods import PODS
from scheduler.input.manifests.known_fields.unread import UNREAD
from scheduler.input.manifests.known_fields.volumes import VOLUMES

#: Field -> type of its value: "" for what is not looked into, `*T` for a T per key.
Fields = Mapping[str, str]


@functools.cache
def types() -> Mapping[str, Fields]:
    """Return the fields of each type; a kind is a type of its own name."""
    found: dict[str, dict[str, str]] = {}
    for text in (PODS, VOLUMES, CONTROLLERS, OTHER_JOBS):
        for line in text.replace("\n  ", " ").strip().splitlines():
            name, _, fields = line.partition(": ")
            found[name] = {field: sort for field, _, sort in _parts(fields)}
    return found


@functools.cache
def looked_into() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return (field, type) of the fields that have fields of their own, by type."""
    return {
        name: tuple(item for item in fields.items() if item[1])
        for name, fields in types().items()
    }


@functools.cache
def kinds() -> frozenset[str]:
    """Return the types that are objects of their own."""
    return frozenset(name for name, fields in types().items() if "kind" in fields)


def _parts(fields: str) -> list[tuple[str, str, str]]:
    return [field.partition(":") for field in fields.split()]


@functools.cache
def unread() -> Mapping[str, frozenset[str]]:
    """Return the fields that decide nothing, by type."""
    return {name: frozenset(fields.split()) for name, fields in UNREAD.items()}
