"""What of a value its schema forbids: found once, said in the words of who asks.

The importer says it to people with a line, the API as an API server would. Cost: that
of the fields that the type has, a list item by item.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from scheduler.model import schemas
from scheduler.model.amounts import is_whole
from scheduler.model.schemas import Field
from scheduler.model.texts.plain_text import read_pattern

_QUANTITY = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]+)?",
    re.ASCII,
)


class What(Enum):
    """Which demand of a field is not met."""

    UNKNOWN = "unknown"  # the value is a list: fields that the type does not have
    REQUIRED = "required"
    TYPE = "type"
    EMPTY = "empty"  # a text that must be there is ""
    QUANTITY = "quantity"
    ENUM = "enum"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    BITS = "bits"  # a whole number of more than 32
    LONG = "long"
    SHORT = "short"
    PATTERN = "pattern"
    FEW = "few"
    MANY = "many"
    MANY_KEYS = "many keys"
    TWICE = "twice"  # of a list told apart by keys, or of a set


class Unmet(NamedTuple):
    """One demand that a value does not meet."""

    what: What
    path: str
    value: Any
    field: Field
    type: str  # of the value: of a list's item that of items

    def is_misplaced(self) -> bool:
        """Return whether it has to be an object, map or list, and is none."""
        plain = (*_PLAIN, "Quantity", "IntOrString")
        return self.what is What.TYPE and self.type not in plain


def is_quantity(value: Any) -> bool:
    """Return whether a value is an amount as Kubernetes writes them."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and _QUANTITY.fullmatch(value) is not None


def _is_share(value: int | str, most: float) -> bool:
    """Return whether a value is a count, or a whole percentage of at most `most`."""
    if isinstance(value, int):
        return value >= 0
    return value[-1:] == "%" and is_whole(value[:-1]) and int(value[:-1]) <= most


class _Sort(Enum):
    LEFT, OBJECT, LIST, MAP, QUANTITY, EITHER, PLAIN = range(7)


class _Step(NamedTuple):
    """A field as it is looked at."""

    field: Field
    sort: _Sort
    item: _Sort  # of an item of a list
    of: str  # type of the item of a list, else of the field
    free: type | None  # a value of it that is not empty has no other limit than texts


class _How(NamedTuple):
    texts: bool
    built_in: bool


class _Plan(NamedTuple):
    steps: dict[str, _Step]
    needed: tuple[str, ...]


_PLAIN: dict[str, type] = {
    "string": str,
    "Time": str,
    "MicroTime": str,
    "int32": int,
    "int64": int,
    "bool": bool,
}
#: Fields of a number or a text where it is a count or a share, and the largest share.
SHARES = {"maxSurge": math.inf, "maxUnavailable": 100, "minAvailable": 100}
#: Whole numbers of Kubernetes' own types that may be less than zero.
_BELOW_ZERO = frozenset(
    {"int", "priority", "terminationGracePeriodSeconds", "tolerationSeconds", "value"}
)
#: The field of a value of a map, and of an item of a list.
OF_MAP, OF_LIST = Field(type="map"), Field(type="[]")
_NONE: frozenset[str] = frozenset()


def faults_of(
    holder: Mapping[Any, Any],
    type_: str,
    path: str = "",
    *,
    leave: frozenset[str] = _NONE,
    texts: bool = True,
    built_in: bool = False,
) -> list[Unmet]:
    """Return what of an object its type forbids, in the order of what is given.

    Fields of the object itself that `leave` names are not looked at, nor without
    `texts` how long a text is, how it is spelled and whether items are there twice, nor
    without `built_in` what is in types of Kubernetes itself, as pod templates are.
    """
    found: list[Unmet] = []
    _of_object(found, holder, type_, path, _How(texts, built_in), leave)
    return found


@functools.cache
def _plan(type_: str, built_in: bool) -> _Plan:
    fields = schemas.fields_of(type_)
    steps = {}
    for name, field in fields.items():
        of = field.type.removeprefix("[]")
        steps[name] = _Step(
            field, _sort(field.type, built_in), _sort(of, built_in), of, _free(field)
        )
    return _Plan(
        steps,
        tuple(
            name
            for name, field in fields.items()
            if field.required and field.default is msgspec.UNSET
        ),
    )


def _free(field: Field) -> type | None:
    if field.type == "Quantity":
        return int
    return str if field.type == "string" and field.enum is None else None


def _sort(type_: str, built_in: bool) -> _Sort:
    if type_.startswith("[]"):
        return _Sort.LIST
    if type_.startswith("map "):
        return _Sort.MAP
    if type_ == "Quantity":
        return _Sort.QUANTITY
    if type_ == "IntOrString":
        return _Sort.EITHER
    if type_.startswith(("core.", "meta.")) and not built_in:
        return _Sort.LEFT  # looked at with what is made of it
    if schemas.fields_of(type_):
        return _Sort.OBJECT
    return _Sort.PLAIN if type_ in _PLAIN else _Sort.LEFT


def _of_object(
    found: list[Unmet],
    holder: Mapping[Any, Any],
    type_: str,
    path: str,
    how: _How,
    leave: frozenset[str] = _NONE,
) -> None:
    (steps, needed), prefix = _plan(type_, how.built_in), f"{path}." if path else ""
    unknown = []
    for name, value in holder.items():
        if name in leave or value is None:
            continue
        if (step := steps.get(name)) is None:
            unknown.append(str(name))
            continue
        field, sort, item, of, free = step
        if sort is _Sort.LEFT or (value and type(value) is free and not how.texts):
            continue
        if sort is not _Sort.LIST:
            _of_value(found, value, field, sort, of, prefix + name, how)
        elif not isinstance(value, list):
            found.append(Unmet(What.TYPE, prefix + name, value, field, field.type))
        else:
            _of_list(found, value, field, item, of, prefix + name, how)
    if unknown:
        found.append(Unmet(What.UNKNOWN, path, unknown, OF_LIST, type_))
    for name in needed:
        if holder.get(name) is None and name not in leave:
            field = steps[name].field
            found.append(Unmet(What.REQUIRED, prefix + name, None, field, field.type))


def _of_list(
    found: list[Unmet],
    value: list[Any],
    field: Field,
    sort: _Sort,
    type_: str,
    path: str,
    how: _How,
) -> None:
    if field.min_items is not None and len(value) < field.min_items:
        found.append(Unmet(What.FEW, path, value, field, field.type))
    if field.max_items is not None and len(value) > field.max_items:
        found.append(Unmet(What.MANY, path, value, field, field.type))
    for number, one in enumerate(value):
        place = f"{path}[{number}]"
        if one == "" and type_ == "string":
            found.append(Unmet(What.EMPTY, place, one, OF_LIST, type_))
        else:
            _of_value(found, one, OF_LIST, sort, type_, place, how)
    if how.texts and field.list_type in ("map", "set"):
        _told_apart(found, value, field, type_, path)


def _told_apart(
    found: list[Unmet], value: list[Any], field: Field, type_: str, path: str
) -> None:
    seen: set[bytes] = set()
    for number, one in enumerate(value):
        if field.keys:
            if not isinstance(one, Mapping):
                continue
            one = {key: one[key] for key in field.keys if key in one}
        told = msgspec.json.encode(one)
        if told in seen:
            found.append(Unmet(What.TWICE, f"{path}[{number}]", one, field, type_))
        seen.add(told)


def _of_value(
    found: list[Unmet],
    value: Any,
    field: Field,
    sort: _Sort,
    type_: str,
    path: str,
    how: _How,
) -> None:
    if sort is _Sort.PLAIN:
        wanted = _PLAIN[type_]
        if type(value) is not wanted:
            found.append(Unmet(What.TYPE, path, value, field, type_))
        if field.enum is not None and value not in field.enum:
            found.append(Unmet(What.ENUM, path, value, field, type_))
        elif type(value) is int:
            _of_number(found, value, field, type_, path, how)
        elif type(value) is str:
            if not value and field.required:
                found.append(Unmet(What.EMPTY, path, value, field, type_))
            if how.texts:
                _of_text(found, value, field, type_, path)
    elif sort is _Sort.OBJECT:
        if isinstance(value, Mapping):
            _of_object(found, value, type_, path, how)
        else:
            found.append(Unmet(What.TYPE, path, value, field, type_))
    elif sort is _Sort.EITHER:
        most = SHARES.get(path.rpartition(".")[2])
        if type(value) not in (int, str) or (most and not _is_share(value, most)):
            found.append(Unmet(What.TYPE, path, value, field, type_))
    elif sort is _Sort.QUANTITY:
        if not is_quantity(value):
            what = What.QUANTITY if isinstance(value, str) else What.TYPE
            found.append(Unmet(what, path, value, field, type_))
    elif sort is _Sort.MAP:
        if not isinstance(value, Mapping):
            found.append(Unmet(What.TYPE, path, value, field, type_))
            return
        if field.max_properties is not None and len(value) > field.max_properties:
            found.append(Unmet(What.MANY_KEYS, path, value, field, type_))
        of = type_[4:]
        inner = _sort(of, how.built_in)
        for key, one in value.items():
            _of_value(found, one, OF_MAP, inner, of, f"{path}.{key}", how)


def _of_number(
    found: list[Unmet], value: int, field: Field, type_: str, path: str, how: _How
) -> None:
    least = field.minimum
    if least is None and how.built_in and path.rpartition(".")[2] not in _BELOW_ZERO:
        least = 0
    if least is not None and value < least:
        found.append(Unmet(What.MINIMUM, path, value, field, type_))
    if field.maximum is not None and value > field.maximum:
        found.append(Unmet(What.MAXIMUM, path, value, field, type_))
    if type_ == "int32" and not -(2**31) <= value < 2**31:
        found.append(Unmet(What.BITS, path, value, field, type_))


def _of_text(
    found: list[Unmet], value: str, field: Field, type_: str, path: str
) -> None:
    if field.max_length is not None and len(value) > field.max_length:
        found.append(Unmet(What.LONG, path, value, field, type_))
    if field.min_length is not None and len(value) < field.min_length:
        found.append(Unmet(What.SHORT, path, value, field, type_))
    if field.pattern and not read_pattern(field.pattern).found_in(value):
        found.append(Unmet(What.PATTERN, path, value, field, type_))


# ------------------------------------------------------------------------
# The defaults that an API server writes out, as a schema has them.


class _Filling(NamedTuple):
    name: str
    default: Any  # UNSET: none
    type: str  # of the object or of each item, where they have defaults; else ""


def fill(holder: dict[str, Any], type_: str) -> None:
    """Write the defaults of a type into an object, and into what is in it."""
    for name, default, of in _fillings(type_):
        value = holder.get(name)
        if value is None:
            if default is msgspec.UNSET:
                continue
            value = holder[name] = msgspec.to_builtins(default)
        if not of:
            continue
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, dict):
                fill(inner, of)


@functools.cache
def _fillings(type_: str) -> tuple[_Filling, ...]:
    found = []
    for name, field in schemas.fields_of(type_).items():
        of = field.type.removeprefix("[]")
        deeper = of if not of.startswith(("core.", "meta.")) and _fillings(of) else ""
        if deeper or field.default is not msgspec.UNSET:
            found.append(_Filling(name, field.default, deeper))
    return tuple(found)
