"""Which functions each test reaches: recorded once, and anew for tests that changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation import trampoline

from tests.mutation import forks

KEPT = Path("reach.json")
FOLDERS = ("scheduler", "sandbox", "api", "tests")
SUFFIXES = {".py", ".gz", ".yaml", ".json"}
#: While this is the name of the change, every function says that it was reached.
RECORDING = "stats"


@dataclasses.dataclass
class TestRun:
    """A test without a change; `failed` ones notice nothing."""

    module: str  # a hash of its file
    failed: bool = False
    seconds: float = 0.0  # of the processor
    functions: list[str] = dataclasses.field(default_factory=list)


def reach_of(items: Sequence[pytest.Item]) -> dict[str, TestRun]:
    """Return a run of each test by the name of its node; runs those not known yet.

    Tests are known while their own file and all that is no test stay the same.
    """
    modules = {str(item.path): _hash([item.path]) for item in items}
    sources = _hash(_sources())
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    runs: dict[str, TestRun] = {}
    if kept.get("sources") == sources:
        runs = {name: TestRun(**run) for name, run in kept["runs"].items()}
    present = {item.nodeid: modules[str(item.path)] for item in items}
    runs = {n: run for n, run in runs.items() if present.get(n) == run.module}
    fresh = [item for item in items if item.nodeid not in runs]
    if fresh:
        lines, _ = forks.call(lambda say: _record(fresh, modules, say))
        for line in lines:
            name, run = json.loads(line)
            runs[name] = TestRun(**run)
        written = {name: dataclasses.asdict(run) for name, run in runs.items()}
        KEPT.write_text(json.dumps({"sources": sources, "runs": written}))
    return runs


def _record(
    items: Sequence[pytest.Item], modules: dict[str, str], say: forks.Say
) -> None:
    reached: set[str] = set()
    trampoline.record_trampoline_hit = lambda name, caller=None: reached.add(name)
    forks.change(RECORDING)
    # Never none follows: the database stays.
    for item, following in zip(items, [*items[1:], items[0]], strict=True):
        reached.clear()
        began = time.process_time()
        reports = runtestprotocol(item, log=False, nextitem=following)
        run = TestRun(
            modules[str(item.path)],
            any(report.failed for report in reports),
            time.process_time() - began,
            sorted(reached),
        )
        say(json.dumps([item.nodeid, dataclasses.asdict(run)]))


def _sources() -> list[Path]:
    found = (path for folder in FOLDERS for path in Path(folder).rglob("*"))
    return sorted(
        path
        for path in found
        if path.suffix in SUFFIXES and not path.name.startswith("test_")
    )


def _hash(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
