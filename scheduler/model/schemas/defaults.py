"""The defaults that an API server writes out, as a schema has them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import msgspec

from scheduler.model import schemas


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
