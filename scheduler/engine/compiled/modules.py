"""Which modules are compiled: those whose loops take the time of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Library -> folders of which each module that can be is compiled (not the folders in
#: them), and modules. Inside a library calls are direct; to another one they are
#: Python's, so that a library holds the whole path of a call.
LIBRARIES = {
    "quotalab_engine": (
        "scheduler/engine/kube/stage.py",
        "scheduler/engine/kueue/cache",
        "scheduler/engine/kueue/controller",
        "scheduler/engine/kueue/flavorassigner",
        "scheduler/engine/kueue/preemption",
        "scheduler/engine/kueue/queries.py",
        "scheduler/engine/kueue/queue",
        "scheduler/engine/kueue/scheduler",
        "scheduler/engine/kueue/scheduler/strategies",
        "scheduler/engine/kueue/stage.py",
        "scheduler/engine/kueue/tree",
        "scheduler/engine/kueue/usage",
        "scheduler/engine/kueue/workload",
        "scheduler/engine/lifetime",
        "scheduler/engine/tick.py",
        "scheduler/engine/stage.py",
        "scheduler/model/kueue/check_state.py",
        "scheduler/model/kueue/preemption_gates.py",
        "scheduler/model/kueue/slices.py",
        "scheduler/model/streams.py",
    ),
    "quotalab_yunikorn": (
        "scheduler/engine/yunikorn",
        "scheduler/engine/yunikorn/gang",
        "scheduler/engine/yunikorn/objects",
        "scheduler/engine/yunikorn/placement",
        "scheduler/engine/yunikorn/preemption",
        "scheduler/engine/yunikorn/scheduling",
        "scheduler/engine/yunikorn/shim",
        "scheduler/engine/yunikorn/sorting",
        "scheduler/model/yunikorn/resources.py",
    ),
}


def libraries(root: Path) -> dict[str, list[str]]:
    """Return library -> the paths of the modules to compile, below `root`, in order."""
    return {
        name: sorted(
            path.relative_to(root).as_posix()
            for part in parts
            for path in _modules(root / part)
            if _can_be(path)
        )
        for name, parts in LIBRARIES.items()
    }


def _modules(path: Path) -> Iterable[Path]:
    """Return the modules of a folder, or the module itself."""
    return path.glob("*.py") if path.is_dir() else [path]


def sources(root: Path) -> list[str]:
    """Return the paths of the modules to compile, below `root`, in order."""
    return sorted(path for paths in libraries(root).values() for path in paths)


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
