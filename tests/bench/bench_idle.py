"""What an installation costs where nothing plays: processor of ten, memory of fifty.

Run `./dev bench tests/bench/bench_idle.py`; docs/scale.md has the figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time

import psutil
import pytest

from tests.bench.size import sized
from tests.services.default_run import DefaultRun, wait_for

SECONDS = sized(30.0, 1.0)
TICKS = sized(20, 2)
TEN, MORE = sized((10, 40), (2, 1))


def spent(run: DefaultRun) -> float:
    """Return the processor seconds of all processes so far."""
    times = [one.cpu_times() for one in (run.process, *run.family())]
    return sum(one.user + one.system for one in times)


def memory_mib(run: DefaultRun) -> dict[str, int]:
    found = {"web": round(run.process.memory_full_info().uss / 2**20)}
    worker = run.child("py worker")
    parts = [worker, *worker.children(recursive=True)]
    for number, one in enumerate(parts):
        with contextlib.suppress(psutil.NoSuchProcess):
            found[f"worker{number}"] = round(one.memory_full_info().uss / 2**20)
    return found


def made(run: DefaultRun, count: int) -> list[str]:
    """Make sandboxes of the first scenario, and let each tick for a while."""
    paths = []
    for _ in range(count):
        one = run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
        paths.append(f"/api/v1/sandboxes/{one['id']}")
        run.post(f"{paths[-1]}/actions/speed", {"speed": 0})
        run.post(f"{paths[-1]}/actions/step", {"ticks": TICKS})
    for path in paths:
        wait_for(lambda path=path: not run.get(path)["playing"], path, 600, 0.2)
    return paths


@pytest.mark.bench
def test_what_stands_costs_next_to_nothing(bench_run):
    empty = memory_mib(bench_run)
    made(bench_run, TEN)
    time.sleep(sized(5, 0))  # what is measured is what goes on after the last tick
    before = spent(bench_run)
    time.sleep(SECONDS)
    share = (spent(bench_run) - before) / SECONDS
    made(bench_run, MORE)
    figures = {
        "cpuShareOfTen": round(share, 4),
        "emptyMiB": empty,
        "fiftyMiB": memory_mib(bench_run),
        "load": round(os.getloadavg()[0], 1),
    }
    sys.stdout.write(f"\nidle: {json.dumps(figures)}\n")
