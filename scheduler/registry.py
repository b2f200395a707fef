"""Strategies and plug-ins enrol themselves here; adding one touches one file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

from scheduler.errors import DuplicateNameError, UnknownNameError

Family = Literal[
    "queueing",
    "preemption",
    "fair-strategy",
    "job-kind",
    "plugin",
    "application-sort",
    "node-sort",
    "laws",
    "arrival",
]
FAMILIES: tuple[str, ...] = get_args(Family)

#: Packages whose modules enrol something when imported.
ROOMS = (
    "scheduler.kueue.strategies",
    "scheduler.manifests.jobs",
    "scheduler.kube.plugins",
    "scheduler.yunikorn.sorts",
    "scheduler.yunikorn.laws",
    "scheduler.arrivals",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One enrolled strategy: what it is called, what it does, what it takes."""

    family: str
    name: str
    label: str
    help: str
    parameters: type | None = None  # a msgspec.Struct of the accepted arguments
    value: Any = field(default=None, repr=False)


_entries: dict[tuple[str, str], Entry] = {}
_loaded = False


def register(
    family: Family,
    name: str,
    *,
    label: str,
    help: str,
    parameters: type | None = None,
) -> Callable[[T], T]:
    """Enrol the decorated class or function under (family, name).

    Raises DuplicateNameError when the name is taken by something else.
    """

    def enrol(value: T) -> T:
        if (family, name) in _entries:
            raise DuplicateNameError(f"{family} {name!r} is enrolled twice")
        _entries[family, name] = Entry(
            family=family,
            name=name,
            label=label,
            help=help,
            parameters=parameters,
            value=value,
        )
        return value

    return enrol


def lookup(family: Family, name: str) -> Any:
    """Return what enrolled as (family, name); UnknownNameError lists the known."""
    load()
    entry = _entries.get((family, name))
    if entry is None:
        known = ", ".join(sorted(e.name for e in entries(family)))
        raise UnknownNameError(f"unknown {family} {name!r}; known: {known}")
    return entry.value


def entries(family: Family | None = None) -> list[Entry]:
    """Return every entry, or those of one family, sorted by family and name."""
    load()
    found = (e for e in _entries.values() if family in (None, e.family))
    return sorted(found, key=lambda e: (e.family, e.name))


def load() -> None:
    """Import every room once, in name order, so that its modules enrol."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    for room in ROOMS:
        _walk(room)


def _walk(room: str) -> None:
    try:
        package = importlib.import_module(room)
    except ModuleNotFoundError as error:
        if error.name is None or not room.startswith(error.name):
            raise
        return
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{room}.{module}")
