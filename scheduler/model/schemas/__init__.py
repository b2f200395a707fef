"""The fields of every kind: one schema that all checks and descriptions are made of.

A line of `kubernetes.json`, `kueue.json` or `others.json` is one field: its type and
limits as the real API publishes them, and beside them what they do not say: what the
field means here (`said`), what it changes that it is kept and not followed (`unread`), what
it became in the newest version (`now`), whether its text is a name (`holds`). The
importer's checks, the defaults, the faults of the API, `kubectl explain`, the fields that
are known and what is anonymous are read from here.

What is published is refreshed by `tests/real/schemas.py`, which keeps the marks. `others.json` is
written by hand: kinds of which only the names of the fields are known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

KUEUE = "kueue.x-k8s.io"
#: How an object's name is spelled: a text so spelled is one where nothing else is said.
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
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
    forbid_unknown_fields=True,
    rename=lambda name: _RENAMED.get(name, name),
):
    """One field of a type."""

    type: str = ""  # a plain type, the name of a type, "[]" or "map " before either
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
    said: str = ""  # what it means here; "" of what is kept as given
    unread: str = ""  # code of the Effect of its being kept and not followed
    now: str = ""  # of an older version: what the newest calls it
    holds: str = ""  # what its texts are: name, word, sentence

    @property
    def is_name(self) -> bool:
        """Return whether its texts name something that people called so."""
        return self.holds == "name" if self.holds else self.pattern == _SUBDOMAIN


class Definition(msgspec.Struct, frozen=True):
    """How a resource definition of Kueue is shown."""

    short: list[str] = []
    warning: str = ""  # of an old version
    columns: list[tuple[str, str, str, int]] = []  # name, type, path, priority
    selectable: list[str] = []  # fields that a field selector may name


Fields = Mapping[str, Field]


class _Kubernetes(msgspec.Struct, forbid_unknown_fields=True):
    kinds: dict[str, str]
    types: dict[str, dict[str, Field]]


class _Kueue(msgspec.Struct, forbid_unknown_fields=True):
    definitions: dict[str, Definition]  # version/kind
    types: dict[str, dict[str, Field]]  # of the newest version, by their paths
    older: dict[str, dict[str, Field | None] | None]  # how the older one differs


class _Others(msgspec.Struct, forbid_unknown_fields=True):
    kinds: dict[str, str]  # group/kind -> type
    read: dict[str, str]  # group/kind -> type of what is read, of fields not all listed
    types: dict[str, dict[str, Field]]
    also: dict[str, dict[str, Field]]  # of published types, in older files


_NEWEST, _OLDER = "v1beta2", "v1beta1"


class _Table(msgspec.Struct):
    kinds: dict[str, str]  # group/version/kind -> type
    definitions: dict[str, Definition]
    types: dict[str, Fields]
    listed: dict[str, str]  # group/kind -> type, newest or of others.json
    read: dict[str, str]
    also: dict[str, Fields]


@functools.cache
def _table() -> _Table:
    folder = Path(__file__).parent
    built_in = (folder / "kubernetes.json").read_bytes()
    kueue = (folder / "kueue.json").read_bytes()
    others = (folder / "others.json").read_bytes()
    return _joined(
        msgspec.json.decode(built_in, type=_Kubernetes),
        msgspec.json.decode(kueue, type=_Kueue),
        msgspec.json.decode(others, type=_Others),
    )


def _joined(built_in: _Kubernetes, kueue: _Kueue, others: _Others) -> _Table:
    kinds, types = dict(built_in.kinds), dict[str, Fields](built_in.types)
    for version, given in ((_NEWEST, kueue.types), (_OLDER, _older(kueue))):
        place = f"{KUEUE}.{version}."
        for path, fields in given.items():
            types[place + path] = {
                name: _placed(field, place, given) for name, field in fields.items()
            }
            if "." not in path:
                kinds[f"{KUEUE}/{version}/{path}"] = place + path
    types |= others.types
    listed = dict(others.kinds)
    for place, type_ in kinds.items():
        group, _, kind = place.split("/")
        listed.setdefault(f"{group}/{kind}", type_)
    return _Table(
        kinds, kueue.definitions, types, listed, others.read, dict(others.also)
    )


def _placed(field: Field, place: str, own: Mapping[str, Any]) -> Field:
    """Return a field whose type is named in full."""
    of = bare(field.type)
    if of not in own:
        return field
    front = field.type.removesuffix(of)
    return msgspec.structs.replace(field, type=front + place + of)


def _older(kueue: _Kueue) -> dict[str, dict[str, Field]]:
    """Return the types of the older version: the newest, with what differs laid over."""
    found = {path: dict(fields) for path, fields in kueue.types.items()}
    for path, fields in kueue.older.items():
        if fields is None:
            del found[path]
            continue
        holder = found.setdefault(path, {})
        for name, field in fields.items():
            holder.pop(name, None)
            if field is not None:
                holder[name] = _marked(field, kueue.types, path, field.now or name)
        found[path] = dict(sorted(holder.items()))
    return found


def _marked(field: Field, types: Mapping[str, Fields], path: str, now: str) -> Field:
    """Return a field of an older version with what is said of it in the newest."""
    *above, last = f"{path}.{now}".split(".")
    newest = types.get(".".join(above), {}).get(last)
    if newest is None:
        return field
    return msgspec.structs.replace(
        field,
        said=field.said or newest.said,
        unread=field.unread or newest.unread,
        holds=field.holds or newest.holds,
    )


@functools.lru_cache(maxsize=256)
def moved(kind: str) -> tuple[tuple[str, str, str], ...]:
    """Return (spec or status, name in the older version, path now) of a kind's fields.

    The path is "" of a field of the spec that the newest version does not have.
    """
    found = []
    for part in ("spec", "status"):
        older = fields_of(f"{KUEUE}.{_OLDER}.{kind}.{part}")
        newest = fields_of(f"{KUEUE}.{_NEWEST}.{kind}.{part}")
        for name, field in older.items():
            if field.now or (part == "spec" and name not in newest):
                found.append((part, name, field.now))
    return tuple(found)


def named(group: str, version: str, kind: str) -> str:
    """Return the published type of a kind by its names, or ""."""
    return _table().kinds.get(f"{group}/{version}/{kind}", "")


def listed(group: str, kind: str) -> str:
    """Return the type of a kind in its newest version, or where only names are known."""
    return _table().listed.get(f"{group}/{kind}", "")


def read_of(group: str, kind: str) -> str:
    """Return the type that the values of a kind are held to: listed, or of what is read."""
    return listed(group, kind) or _table().read.get(f"{group}/{kind}", "")


def definition_of(group: str, version: str, kind: str) -> Definition | None:
    """Return how a kind of Kueue is shown; None of any other."""
    return _table().definitions.get(f"{version}/{kind}") if group == KUEUE else None


def types() -> Mapping[str, Fields]:
    """Return all types, with their fields by name."""
    return _table().types


def fields_of(type_: str) -> Fields:
    """Return the fields of a type by their names; none of a plain one."""
    return _table().types.get(type_, {})


def also_in(type_: str) -> Fields:
    """Return fields that a published type does not have any more, and files do."""
    return _table().also.get(type_, {})


def bare(type_: str) -> str:
    """Return the type of an item of a list or a value of a map; else the type."""
    return type_.removeprefix("[]").removeprefix("map ")


@functools.lru_cache(maxsize=256)
def is_built_in(group: str) -> bool:
    """Return whether Kubernetes itself serves a group; others are custom resources."""
    if "." not in group or group == "apiextensions.k8s.io":
        return True
    published = any(place.startswith(f"{group}/") for place in _table().kinds)
    return published and not group.endswith(".x-k8s.io")
