"""Runs of a plan that were run before, as files of a folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import scheduler
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.plan.measuring import RunNumbers

_DECODE = msgspec.msgpack.Decoder(RunNumbers)


def key_of(base: FileBase, seed: int, horizon_ms: int, wanted: tuple[str, ...]) -> str:
    """Return a name for the run: equal for equal input and the same program.

    Where objects come from (files, lines) is no part of it, as it decides nothing.
    """
    prepared = base.prepared
    loaded = prepared.loaded
    scenario = prepared.scenario
    parts: list[Any] = [
        _program(),
        [[obj.manifest, obj.status] for obj in loaded.objects],
        loaded.policy,
        None if scenario is None else msgspec.to_builtins(scenario.spec),
        prepared.files if scenario is not None else None,  # arrivals may read them
        [seed, horizon_ms, *wanted],
    ]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def stored(folder: Path, key: str) -> RunNumbers | None:
    """Return the run of this name; None where there is none, or none that is whole."""
    try:
        return _DECODE.decode((folder / key).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def store(folder: Path, key: str, run: RunNumbers) -> None:
    """Keep a run. A reader beside it sees all of it or nothing. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(msgspec.msgpack.encode(run))
    os.replace(file.name, folder / key)


@cache
def _program() -> str:
    """Return a digest of the engine's sources: another program may decide differently."""
    digest = hashlib.sha256()
    root = Path(scheduler.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
