"""Builds the engine's busiest modules as machine code: `python -m scheduler.engine.compiled.build`.

    python -m scheduler.engine.compiled.build [FOLDER] [--level 0|1|2|3]

Needs mypy, setuptools and a C compiler; nothing that runs needs them.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from scheduler.engine.compiled.finder import LIST, ROOT, fingerprint, usual_folder

SUFFIX = EXTENSION_SUFFIXES[0]
#: Python's own -Wall, undone: nobody wrote this C, and looking for what to warn of in it
#: takes most of the time of an unoptimised build.
UNWARNED = "-Wno-all"


def main(arguments: list[str]) -> int:
    """Build, and put what was built in the place of what was there before."""
    asked = _parser().parse_args(arguments)
    if why := missing():
        sys.stderr.write(f"{why}, or go on without: plain Python decides the same.\n")
        return 1
    paths = sources(ROOT)
    made_of = {path: fingerprint(ROOT / path) for path in paths}
    with tempfile.TemporaryDirectory() as work:
        modules = compile_modules(Path(work), asked.level)
        put_in_place(asked.folder, modules, made_of)
    sys.stdout.write(f"{len(paths)} modules compiled into {asked.folder}\n")
    return 0


def missing() -> str:
    """Return the missing tools of a build and how to install them; "" when none is missing."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        return (
            "No C compiler was found (cc). Install one (Debian: apt-get install gcc), "
            "name it by CC"
        )
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        return f"{header} is missing. Install it (Debian: apt-get install python3-dev)"
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scheduler.engine.compiled.build")
    parser.add_argument("folder", nargs="?", type=Path, default=usual_folder())
    parser.add_argument("--level", default="2", choices="0123", help="optimisation")
    return parser


def compile_modules(work: Path, level: str) -> dict[str, Path]:
    """Return module name -> file of the module, built in `work`.

    Cost: some two minutes of one core, half of it at level 0.
    """
    remarks = io.StringIO()
    try:
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(remarks):
            for library, paths in libraries(ROOT).items():
                _compile(library, paths, work, level)
    except BaseException:
        sys.stderr.write(remarks.getvalue())
        raise
    return _flat(work / "lib")


def _compile(library: str, paths: list[str], work: Path, level: str) -> None:
    # Known only where the engine is built, and slow to import.
    from mypyc.build import mypycify
    from setuptools import setup

    extensions: list[Any] = mypycify(
        [*paths, "--ignore-missing-imports", "--follow-imports", "silent"],
        opt_level=level,
        debug_level="0",
        target_dir=str(work / "c"),
        group_name=library,
    )
    for one in extensions:
        one.extra_compile_args = [*one.extra_compile_args, UNWARNED]
    folders = ["--build-lib", str(work / "lib"), "--build-temp", str(work / "o")]
    setup(
        name=library,
        packages=[],
        ext_modules=extensions,
        script_args=["--quiet", "build_ext", *folders],
    )


def _flat(library: Path) -> dict[str, Path]:
    """Return the files of modules under names that may stand in one folder."""
    found = {}
    for file in sorted(library.rglob(f"*{SUFFIX}")):
        name = ".".join(file.relative_to(library).parts)
        found[name.removesuffix(SUFFIX)] = file.rename(library / name)
    return found


def put_in_place(
    folder: Path, modules: dict[str, Path], made_of: dict[str, str]
) -> None:
    """Put a build there, and its list last. The build before it stays.

    A process that runs on that one may still have modules of it to import.
    """
    before = listed(folder)
    name = f"{time.time_ns():x}"
    (folder / name).mkdir(parents=True)
    for file in modules.values():
        shutil.move(file, folder / name / file.name)
    files = {module: f"{name}/{file.name}" for module, file in modules.items()}
    text = json.dumps({"sources": made_of, "modules": files}, indent=1)
    fresh = folder / f"{LIST}.{name}"
    fresh.write_text(text)
    fresh.replace(folder / LIST)
    for path in folder.iterdir():
        if path.is_dir() and path.name not in (name, before):
            shutil.rmtree(path)


def listed(folder: Path) -> str:
    """Return the name of the build that the list names, "" where there is none."""
    try:
        files = json.loads((folder / LIST).read_bytes())["modules"].values()
    except OSError:
        return ""
    return next((file.partition("/")[0] for file in files), "")


# ------------------------------------------------------------------------
# Which modules are compiled: those whose loops take the time of a run.

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
        "scheduler/model/kueue/check_answers.py",
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
