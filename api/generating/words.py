"""The English of sentences and plug-ins, for the page's catalogue."""

from __future__ import annotations

import importlib
import json
import pkgutil

import msgspec

from scheduler import words
from scheduler.model import problems, registry
from scheduler.model.sentence import Words

#: Modules outside of these packages that have sentences.
_MODULES = (
    "scheduler.model.event_words",
    "scheduler.model.kube.older_names",
    "sandbox.base.refusals",
)
#: Families whose labels are names that no language translates.
_NAMED = frozenset({"arrival", "job-kind", "plugin"})


def sentences() -> dict[str, str]:
    """Return the English words of every sentence by its code."""
    for package in (problems, words):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in _MODULES:
        importlib.import_module(name)
    found: dict[str, str] = {}
    for kind in kinds_of_words():
        if kind.__module__.startswith(("scheduler.", "sandbox.")):
            for one in kind:
                if found.setdefault(one.value, one.english) != one.english:
                    raise ValueError(f"two sentences have the code {one.value}")
    return found


def kinds_of_words(kind: type[Words] = Words) -> list[type[Words]]:
    """Return the classes of sentences that were imported, those of classes too."""
    below = kind.__subclasses__()
    return [*below, *(one for inner in below for one in kinds_of_words(inner))]


def argument_shapes() -> dict[str, str]:
    """Return the description of every shape of plug-in arguments by its name."""
    return {
        name: " ".join(shape["description"].split())
        for one in registry.entries("plugin")
        if one.parameters
        for name, shape in msgspec.json.schema(one.parameters)["$defs"].items()
    }


def catalogue() -> str:
    """Return the JSON catalogue: `said.<code>`, and what enrolled plug-ins say of themselves."""
    said = {f"said.{code}": text for code, text in sentences().items()}
    entries = registry.entries()
    enrolled = {f"registry.help.{one.family}.{one.name}": one.help for one in entries}
    enrolled |= {
        f"registry.label.{one.family}.{one.name}": one.label
        for one in entries
        if one.family not in _NAMED
    }
    shapes = {f"registry.args.{name}": text for name, text in argument_shapes().items()}
    found = dict(sorted({**said, **enrolled, **shapes}.items()))
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
