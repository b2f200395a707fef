"""Strategies and plug-ins enrol themselves here; adding one touches one file.

Plug-ins of other distributions enrol by an entry point of the group
`quotalab.plugins` that names a module with `@register` in it. Files, and folders of
files, that the environment names in `QUOTALAB_POLICIES` enrol, too.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from scheduler.model.errors import (
    DuplicateNameError,
    RegistrationError,
    UnknownNameError,
)
from scheduler.model.problems import Form

#: The entry point group of plug-ins that are installed beside this distribution.
GROUP = "quotalab.plugins"
#: The variable that names the files of plug-ins, as PATH names its folders.
FILES = "QUOTALAB_POLICIES"
#: What plug-ins import as `quotalab.policies`, which must be known before they are.
_INTERFACE = "scheduler.model.proposals"

Family = Literal[
    "queueing",
    "preemption",
    "proposal",
    "fair-strategy",
    "job-kind",
    "plugin",
    "application-sort",
    "node-sort",
    "laws",
    "arrival",
    "trace",
]

#: Packages whose modules (and their subpackages') enrol something when imported, and
#: the families they enrol in: a lookup in a family imports its packages only.
PACKAGES: dict[str, tuple[Family, ...]] = {
    "scheduler.engine.kueue.scheduler.strategies": (
        "queueing",
        "preemption",
        "fair-strategy",
    ),
    "scheduler.input.manifests.jobs": ("job-kind",),
    "scheduler.engine.kube.plugins": ("plugin",),
    "scheduler.engine.yunikorn.sorting": ("application-sort", "node-sort"),
    "scheduler.engine.yunikorn.preemption.laws": ("laws",),
    "scheduler.input.arrivals": ("arrival",),
    "scheduler.input.traces.formats": ("trace",),
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One enrolled strategy: what it is called, what it does, what it takes."""

    family: str
    name: str
    label: str
    help: str
    parameters: type | None = None  # a msgspec.Struct of the accepted arguments
    value: Any = field(default=None, repr=False)


_entries: dict[tuple[str, str], Registration] = {}
_loaded: set[str] = set()


def register(
    family: Family, name: str, *, label: str, help: str, parameters: type | None = None
) -> Callable[[T], T]:
    """Enrol the decorated class or function under (family, name).

    A class gets `name` as its attribute, and its `args_type`, where it has one,
    is `parameters`; neither needs to be written twice. Raises DuplicateNameError
    when the name is taken, RegistrationError when the class says otherwise or
    `parameters` is no msgspec.Struct.
    """
    _check_parameters(parameters, f"{family} {name!r}")

    def enrol(value: T) -> T:
        if (family, name) in _entries:
            raise DuplicateNameError(f"{family} {name!r} is enrolled twice")
        if isinstance(value, type):
            _set(value, "name", name, f"{family} {name!r}")
            if hasattr(value, "args_type") and parameters is not None:
                _set(value, "args_type", parameters, f"{family} {name!r}")
        _entries[family, name] = Registration(
            family=family,
            name=name,
            label=label,
            help=help,
            parameters=parameters,
            value=value,
        )
        return value

    return enrol


def _check_parameters(parameters: type | None, what: str) -> None:
    if parameters is None or issubclass(parameters, msgspec.Struct):
        return
    raise RegistrationError(
        f"{what}: expected parameters to be a msgspec.Struct, "
        f"got {parameters.__qualname__}"
    )


def _set(kind: type, attribute: str, value: object, what: str) -> None:
    """Set an attribute of an enrolled class, unless the class says otherwise."""
    own = vars(kind).get(attribute, value)
    if own != value:
        raise RegistrationError(
            f"{what}: {kind.__module__}.{kind.__qualname__}.{attribute} is {own!r}, "
            f"but it is enrolled with {value!r}; leave the attribute out"
        )
    setattr(kind, attribute, value)


def lookup(family: Family, name: str) -> Any:
    """Return what enrolled as (family, name); UnknownNameError lists the known."""
    load(family)
    entry = _entries.get((family, name))
    if entry is None:
        known = ", ".join(sorted(e.name for e in entries(family)))
        raise UnknownNameError(
            Form.UNKNOWN_NAME.said(family=family, name=repr(name), known=known)
        )
    return entry.value


def entries(family: Family | None = None) -> list[Registration]:
    """Return every entry, or those of one family, sorted by family and name."""
    load(family)
    found = (e for e in _entries.values() if family in (None, e.family))
    return sorted(found, key=lambda e: (e.family, e.name))


def built_in(family: Family) -> list[Registration]:
    """Return the entries of a family that its packages have, sorted by name.

    Those of other distributions are left out, also where they are enrolled already.
    """
    _load_packages(family)
    homes = tuple(f"{name}." for name, has in PACKAGES.items() if family in has)
    found = (
        entry
        for entry in _entries.values()
        if entry.family == family and entry.value.__module__.startswith(homes)
    )
    return sorted(found, key=lambda e: e.name)


def load(family: Family | None = None) -> None:
    """Import every package of the family (of all), and other distributions' plug-ins.

    Each once, so that its modules enrol. Raises RegistrationError naming the
    entry point or file that cannot be imported.
    """
    _load_packages(family)
    if GROUP not in _loaded:
        _loaded.add(GROUP)
        importlib.import_module(_INTERFACE)
        before = dict(_entries)
        try:
            _import_plug_ins()
        except RegistrationError:
            _entries.clear()
            _entries.update(before)
            _loaded.discard(GROUP)  # who asks later is told as well
            raise


def _import_plug_ins() -> None:
    _import_entry_points()
    for text in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        path = Path(text)
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            _import_file(file)


def _load_packages(family: Family | None) -> None:
    for package, families in PACKAGES.items():
        if package not in _loaded and (family is None or family in families):
            _loaded.add(package)
            _import_modules(package)


def _import_modules(name: str) -> None:
    try:
        package = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return
    found = pkgutil.walk_packages(package.__path__, prefix=f"{name}.")
    for module in sorted(m.name for m in found):
        importlib.import_module(module)


def _import_entry_points() -> None:
    for point in sorted(importlib.metadata.entry_points(group=GROUP)):
        try:
            point.load()
        except (ImportError, AttributeError) as error:
            raise RegistrationError(
                f"entry point {point.name} = {point.value!r} of group {GROUP}: "
                f"expected a module that can be imported, got {error}"
            ) from error


#: What a module raises that is read and does not hold.
_OF_A_MODULE = (AttributeError, NameError, TypeError, ValueError)


def _import_file(path: Path) -> None:
    loader = SourceFileLoader(f"quotalab_policy_{path.stem}", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except (ImportError, OSError, SyntaxError, *_OF_A_MODULE) as error:
        raise RegistrationError(
            f"{FILES}: expected a Python file that can be imported, or a folder of "
            f"such files, got {path}: {error}"
        ) from error


def extended(base: type[T]) -> type[T]:
    """Mark a base of registered classes; mypyc compiles it as they are, to a plain class."""
    return base
