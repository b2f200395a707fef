"""Two revisions turn by turn, growth with size, and counts of operations.

`./dev bench --compare BASE [NAME...]` runs each case on the sources of BASE and on those
here, in processes that take turns, and prints the ratio of processor time (here / BASE)
with its 95% interval. `--growth [NAME...]` runs each case at 1, 4 and 16 times its size
and prints the exponent. `--count` writes the counts that the tests hold: calls of the
project's own functions and statements to the database, the same on any machine.
"""

from __future__ import annotations

import gc
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any

from tests.bench.cases import CASES, Act

ROOT = Path(__file__).resolve().parents[2]
COUNTS = Path(__file__).with_name("operations.json")
OWN = ("api", "sandbox", "scheduler")
#: What the tests count, in a few seconds; another Python may count otherwise.
COUNTED = ("demo-ticks", "undo", "experiment-run", "kube-pods")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
TURNS = 5
SIZE = 4  # of what is compared
SIZES = (1, 4, 16)


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    match arguments:
        case ["once", name, size]:
            sys.stdout.write(f"{seconds(CASES[name](int(size)))}\n")
        case ["count", *names]:
            found = {name: count(name) for name in names or CASES}
            sys.stdout.write(json.dumps(found) + "\n")
        case ["--compare", base, *names]:
            compare(base, names or list(CASES))
        case ["--growth", *names]:
            growth(names or list(CASES))
        case ["--count"]:
            record = {"python": PYTHON, "cases": {n: counted(n) for n in COUNTED}}
            COUNTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        case _:
            sys.stdout.write(__doc__ or "")
            return 2
    return 0


def seconds(act: Act) -> float:
    """Return the processor time of an act."""
    gc.collect()
    gc.freeze()
    began = time.process_time()
    act()
    return time.process_time() - began


def count(name: str) -> dict[str, int]:
    """Return what a case of size 1 does: calls of own functions, statements.

    Comprehensions are left out: later Pythons make no call of them.
    """
    act, found = CASES[name](1), {"calls": 0, "statements": 0}
    if "sandbox.actions.ticks" in sys.modules:  # a batch must not end by the clock
        sys.modules["sandbox.actions.ticks"].UNWATCHED_S = 3600.0

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            module = frame.f_globals.get("__name__", "")
            found["calls"] += module.partition(".")[0] in OWN
            found["statements"] += frame.f_code.co_name == "_execute_with_wrappers"

    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(None)
    return found


def counted(name: str) -> dict[str, int]:
    """Return the counts of a case, made in a process of its own."""
    found: dict[str, dict[str, int]] = json.loads(child(ROOT, "count", name))
    return found[name]


def compare(base: str, names: list[str]) -> None:
    """Print per case how much processor time it takes here, as a share of BASE's."""
    with tempfile.TemporaryDirectory(prefix="quotalab-base-") as folder:
        before = sources(base, Path(folder))
        for name in names:
            pairs = [
                (
                    float(child(before, "once", name, str(SIZE))),
                    float(child(ROOT, "once", name, str(SIZE))),
                )
                for _ in range(TURNS)
            ]
            sys.stdout.write(line(name, pairs))
            sys.stdout.flush()


def line(name: str, pairs: list[tuple[float, float]]) -> str:
    """Return a case's medians, and the ratio with its interval."""
    low, middle, high = ratio(pairs)
    old, new = (statistics.median(side) for side in zip(*pairs, strict=True))
    return (
        f"{name:20} {old:8.3f} {new:8.3f} CPU-s  ratio {middle:.2f} "
        f"({low:.2f} to {high:.2f})\n"
    )


def ratio(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Return the geometric mean of after / before, with the ends of its interval."""
    from scheduler.analysis.experiments.results import t_value  # BASE may not have it

    logs = [math.log(after / before) for before, after in pairs]
    middle = statistics.fmean(logs)
    wide = t_value(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle - wide), math.exp(middle), math.exp(middle + wide)


def growth(names: list[str]) -> None:
    """Print each case's time at 1, 4 and 16 times its size, and the exponent."""
    for name in names:
        took = [float(child(ROOT, "once", name, str(size))) for size in SIZES]
        times = " ".join(f"{one:8.3f}" for one in took)
        sys.stdout.write(f"{name:20} {times} CPU-s  exponent {exponent(took):.2f}\n")
        sys.stdout.flush()


def exponent(took: list[float]) -> float:
    """Return e such that the last is the first times the growth of size to the e."""
    return math.log(took[-1] / took[0]) / math.log(SIZES[-1] / SIZES[0])


def sources(revision: str, folder: Path) -> Path:
    """Unpack a revision's sources; the cases are those of this one."""
    done = subprocess.run(
        ["git", "archive", revision, *OWN], cwd=ROOT, capture_output=True, check=True
    )
    # Python 3.11.2, which Debian has, knows no filter yet.
    safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, **safe)
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


def child(root: Path, *words: str) -> str:
    """Run this module on the sources in a folder; return the last line it printed."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.compare", *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} in {root}:\n{done.stderr[-2000:]}")
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
