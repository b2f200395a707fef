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

#: Packages whose modules enrol something when imported, and the families they
#: enrol in: who looks a family up imports its rooms only.
ROOMS: dict[str, tuple[Family, ...]] = {
    "scheduler.kueue.scheduler.strategies": ("queueing", "preemption", "fair-strategy"),
    "scheduler.manifests.jobs": ("job-kind",),
    "scheduler.kube.plugins": ("plugin", "preemption"),
    "scheduler.yunikorn.sorting": ("application-sort", "node-sort"),
    "scheduler.yunikorn.preemption.laws": ("laws",),
    "scheduler.arrivals": ("arrival",),
}

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
_loaded: set[str] = set()


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
    load(family)
    entry = _entries.get((family, name))
    if entry is None:
        known = ", ".join(sorted(e.name for e in entries(family)))
        raise UnknownNameError(f"unknown {family} {name!r}; known: {known}")
    return entry.value


def entries(family: Family | None = None) -> list[Entry]:
    """Return every entry, or those of one family, sorted by family and name."""
    load(family)
    found = (e for e in _entries.values() if family in (None, e.family))
    return sorted(found, key=lambda e: (e.family, e.name))


def load(family: Family | None = None) -> None:
    """Import every room of the family (of all), once, so that its modules enrol."""
    for room, families in ROOMS.items():
        if room not in _loaded and (family is None or family in families):
            _loaded.add(room)
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
