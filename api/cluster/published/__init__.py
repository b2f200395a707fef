"""The published types of Kubernetes 1.36 and Kueue 0.19: names, numbers, what is written.

`types.json` is made by `making.py`; nothing in it is written by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from scheduler.input.manifests.kinds import Kind


class Resource(Protocol):
    """What a type is found by."""

    @property
    def kind(self) -> Kind:
        """Its entry in the table of kinds."""

    @property
    def version(self) -> str:
        """The version that is asked for."""


_RENAMED = {
    "list_type": "list",
    "map_type": "map",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
}


class Field(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename=lambda name: _RENAMED.get(name, name),
):
    """One field of a published type."""

    type: str = ""  # a plain type, a name of TYPES, "[]" or "map " before either
    at: int = 0  # number in protobuf
    within: tuple[int, int] | None = (
        None  # number of the embedded message, number there
    )
    inline: list[Any] | None = None  # of the field "": the embedded messages
    required: bool = False
    always: bool = False  # written by a server even where it is zero
    pointer: bool = False  # zero is a value of its own
    enum: list[str] | None = None
    list_type: str = ""  # how items are told apart: atomic, set, map
    keys: tuple[str, ...] = ()  # of a list that is a map
    map_type: str = ""  # atomic: owned and replaced as a whole
    merge: str = ""  # key of a strategic merge
    strategy: str = ""
    default: Any = msgspec.UNSET
    pattern: str = ""
    minimum: int | None = None
    maximum: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_properties: int | None = None


class Definition(msgspec.Struct, frozen=True):
    """How a resource definition of Kueue is shown."""

    short: list[str] = []
    warning: str = ""  # of an old version
    columns: list[tuple[str, str, str, int]] = []  # name, type, path, priority
    selectable: list[str] = []  # fields that a field selector may name


class _Table(msgspec.Struct):
    kinds: dict[str, str]
    definitions: dict[str, Definition]
    types: dict[str, dict[str, Field]]


Fields = Mapping[str, Field]


@functools.cache
def _table() -> _Table:
    text = Path(__file__).with_name("types.json").read_bytes()
    return msgspec.json.decode(text, type=_Table)


def type_of(resource: Resource) -> str:
    """Return the published type of a kind; "" where none is in the table."""
    return named(resource.kind.group, resource.version, resource.kind.kind)


def named(group: str, version: str, kind: str) -> str:
    """Return the published type of a kind by its names, or ""."""
    return _table().kinds.get(f"{group}/{version}/{kind}", "")


def definition_of(group: str, version: str, kind: str) -> Definition | None:
    """Return how a kind of Kueue is shown; None of any other."""
    return _table().definitions.get(f"{group}/{version}/{kind}")


def fields_of(type_: str) -> Fields:
    """Return the fields of a type by their names; none of a plain one."""
    return _table().types.get(type_, {})


def bare(type_: str) -> str:
    """Return the type of an item of a list or a value of a map; else the type."""
    return type_.removeprefix("[]").removeprefix("map ")


@functools.cache
def is_built_in(group: str) -> bool:
    """Return whether Kubernetes itself serves a group; others are custom resources."""
    if "." not in group or group == "apiextensions.k8s.io":
        return True
    published = any(place.startswith(f"{group}/") for place in _table().kinds)
    return published and not group.endswith(".x-k8s.io")
