"""Which modules are compiled: those whose loops take the time of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

#: Folders of which each module that can be is compiled; not the folders in them.
FOLDERS = (
    "scheduler/kueue/cache",
    "scheduler/kueue/controller",
    "scheduler/kueue/flavorassigner",
    "scheduler/kueue/preemption",
    "scheduler/kueue/queue",
    "scheduler/kueue/scheduler",
    "scheduler/kueue/scheduler/strategies",
    "scheduler/kueue/tree",
    "scheduler/kueue/usage",
    "scheduler/kueue/workload",
    "scheduler/lifetime",
)
MODULES = (
    "scheduler/kube/stage.py",
    "scheduler/kube/turns.py",
    "scheduler/kueue/queries.py",
    "scheduler/kueue/stage.py",
    "scheduler/simulation.py",
    "scheduler/stage.py",
    "scheduler/streams.py",
    "scheduler/tick.py",
)


def sources(root: Path) -> list[str]:
    """Return the paths of the modules to compile, below `root`, in order."""
    found = [path for folder in FOLDERS for path in (root / folder).glob("*.py")]
    found += [root / module for module in MODULES]
    names = (path.relative_to(root).as_posix() for path in found if _can_be(path))
    return sorted(names)


def _can_be(path: Path) -> bool:
    """Return whether the compiler keeps the meaning of every class in it.

    It drops the options of a class (`frozen=True` of a record) and cannot build a class
    on one that it did not compile.
    """
    if path.name == "__init__.py":
        return False
    return not any(map(_has_options, _classes(ast.parse(path.read_text()))))


def _classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def _has_options(one: ast.ClassDef) -> bool:
    """Return whether a class is a record, or has options in its head."""
    bases = {ast.unparse(base) for base in one.bases}
    return bool(one.keywords) or bool(bases & {"msgspec.Struct", "Struct"})


def module_name(source: str) -> str:
    """Return the name by which a source is imported."""
    return source.removesuffix(".py").replace("/", ".")
