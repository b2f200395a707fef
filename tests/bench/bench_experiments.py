"""A thousand runs of 200 workloads, with one and with two workers.

Run `./dev bench tests/bench/bench_experiments.py`. The whole service runs: web
server, bus, clock, and one worker process more than those that run experiments.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bench.size import sized
from tests.bench.worlds import four_teams
from tests.sandbox.experiments.test_workers import Workers
from tests.services.default_run import DefaultRun, wait_for

pytestmark = pytest.mark.bench

SEEDS = sized(250, 1)
JOBS_EACH = sized(50, 3)
PATIENCE_S = 3600.0
FAIR = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}}


def document() -> dict[str, Any]:
    """Return four variants of it, with 250 seeds each."""
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "spec": {
            "base": {"files": ["teams.yaml"]},
            "seeds": {"count": SEEDS},
            "grid": [
                {
                    "name": "preemption",
                    "choices": [
                        {"name": "classical"},
                        {"name": "fair", "policy": {"kueue": FAIR}},
                    ],
                },
                {"name": "arrivals", "values": [1, 2]},
            ],
        },
    }


def cpu_seconds(default_run: DefaultRun) -> float:
    """Return what the worker's processes have used so far."""
    worker = default_run.child("py worker")
    times = [one.cpu_times() for one in (worker, *worker.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def measure(default_run: DefaultRun) -> tuple[float, float, list[str]]:
    """Return wall and CPU seconds of an experiment, and the hashes of its runs."""
    used = cpu_seconds(default_run)
    files = [{"name": "teams.yaml", "text": four_teams(jobs_each=JOBS_EACH)}]
    began = time.monotonic()
    made = default_run.post(
        "/api/v1/experiments", {"document": document(), "files": files}
    )
    path = f"/api/v1/experiments/{made['id']}"
    ends = f"{path}/results?limit=1&after={made['total'] - 1}"
    wait_for(lambda: default_run.get(ends)["items"], "the last run", PATIENCE_S, 0.5)
    spent = time.monotonic() - began
    used = cpu_seconds(default_run) - used
    body = default_run.get(path)
    assert (body["state"], body["failed"]) == ("done", 0)
    runs = default_run.get(f"{path}/results?limit=10000")["items"]
    runs.sort(key=lambda run: run["number"])
    return spent, used, [run["hash"] for run in runs]


def test_a_thousand_runs_with_one_and_two_workers(tmp_path: Path) -> None:
    found: dict[int, list[str]] = {}
    for workers in (1, 2):
        with Workers(tmp_path / str(workers), workers) as default_run:
            spent, used, hashes = measure(default_run)
        found[workers] = hashes
        sys.stdout.write(
            f"\n{len(hashes)} runs of {4 * JOBS_EACH} workloads, "
            f"{workers} worker(s): {spent:.0f} s, {len(hashes) / spent:.1f} runs/s, "
            f"{used / len(hashes):.2f} CPU-s per run\n"
        )
    assert found[1] == found[2]
