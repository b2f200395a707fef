"""Finds the compiled modules of the engine, as long as they are those of the sources here.

A compiled module that is older than its source would decide as the source did before. So
what was built is used as a whole or not at all: it names the fingerprint of every source
that it was made of, and one that differs leaves all of it aside.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
#: Names the folder of another build; "no" keeps to plain Python.
VARIABLE = "QUOTALAB_COMPILED"
#: Inside the folder of a build: what was built, and of what.
LIST = "built.json"


class CompiledFinder:
    """Finds modules in the folder of a build, by their full names."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.files = files

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return where a compiled module is; None for any other."""
        file = self.files.get(fullname)
        if file is None:
            return None
        return importlib.util.spec_from_file_location(fullname, self.folder / file)


def usual_folder() -> Path:
    """Return where `./dev compile` builds for this Python."""
    kind = importlib.machinery.EXTENSION_SUFFIXES[0].strip(".").removesuffix(".so")
    return ROOT / ".compiled" / kind


def fingerprint(source: Path) -> str:
    """Return a hash of the sources."""
    try:
        return hashlib.blake2b(source.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


class Engine(NamedTuple):
    """What runs: compiled modules, or plain Python and why."""

    compiled: bool
    why: str
    outdated: bool = False

    def __str__(self) -> str:
        """Return it for people."""
        return f"{'compiled' if self.compiled else 'plain Python'} ({self.why})"


def find_compiled() -> Engine:
    """Let imports find the compiled modules, if they fit; return what runs.

    Raises ImportError where QUOTALAB_COMPILED names a folder that cannot be used: who
    asked for it by name is not left with another engine. Cost: 3 ms.
    """
    named = os.environ.get(VARIABLE, "")
    if named == "no":
        return Engine(compiled=False, why=f"{VARIABLE}=no")
    folder = Path(named) if named else usual_folder()
    engine = _use(folder)
    if named and not engine.compiled:
        why = engine.why if engine.outdated else "it holds no build"
        message = (
            f"{VARIABLE} names {folder}, which cannot be used: {why}. "
            f"`python -m scheduler.engine.compiled.build {folder}` with {VARIABLE}=no makes one."
        )
        raise ImportError(message)
    return engine


def _use(folder: Path) -> Engine:
    """Use what was built there, where it fits."""
    try:
        built = json.loads((folder / LIST).read_bytes())
        known_of, modules = built["sources"], built["modules"]
    except (OSError, ValueError, KeyError):
        return Engine(compiled=False, why="./dev compile builds a faster one")
    for source, known in known_of.items():
        if fingerprint(ROOT / source) != known:
            why = f"{source} has changed since it was built: run ./dev compile again"
            return Engine(compiled=False, why=why, outdated=True)
    sys.meta_path.insert(0, CompiledFinder(folder, modules))
    return Engine(compiled=True, why=str(folder))
