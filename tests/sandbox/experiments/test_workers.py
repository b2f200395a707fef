"""Experiments on real workers: one, two that are killed, four, and a busy default run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.experiments.conftest import document_of, world_text
from tests.services.default_run import DefaultRun, wait_for

SEEDS = 4


class Workers(DefaultRun):
    """A default run with so many processes for experiments, and one for ticks."""

    def __init__(self, folder: Path, seats: int) -> None:
        super().__init__(folder)
        self.command = (*DefaultRun.command, "--workers", str(seats + 1))


def start(default_run: DefaultRun, jobs: int = 24, **spec: Any) -> str:
    body = {
        "document": document_of(**{"seeds": {"count": SEEDS}, "horizon": "1h", **spec}),
        "files": [{"name": "world.yaml", "text": world_text(jobs)}],
    }
    return f"/api/v1/experiments/{default_run.post('/api/v1/experiments', body)['id']}"


def ended(default_run: DefaultRun, path: str) -> list[dict[str, Any]]:
    """Wait for the end; return every run but for what the machine's speed says."""
    wait_for(lambda: default_run.get(path)["state"] == "done", "the end", every_s=0.1)
    runs = default_run.get(f"{path}/results")["items"]
    for run in runs:
        run["measures"].pop("schedulingMs")
        run.pop("ended")
    return sorted(runs, key=lambda run: run["number"])


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DefaultRun]:
    """A default run with one worker for experiments."""
    with Workers(tmp_path_factory.mktemp("one"), 1) as default_run:
        yield default_run


@pytest.fixture(scope="module")
def by_one(one: DefaultRun) -> list[dict[str, Any]]:
    """The results of one worker."""
    return ended(one, start(one))


def test_results_do_not_depend_on_how_many_workers_there_are(tmp_path, by_one):
    with Workers(tmp_path, 4) as default_run:
        found = ended(default_run, start(default_run))
    assert len(found) == 2 * SEEDS
    assert found == by_one


def test_killed_workers_and_a_killed_bus_change_no_result(tmp_path, by_one):
    with Workers(tmp_path, 2) as default_run:
        path = start(default_run)
        wait_for(lambda: default_run.get(path)["done"] >= 1, "a first run")
        default_run.child("py worker").kill()
        assert default_run.get(path)["state"] == "running"
        default_run.child("valkey").kill()
        assert ended(default_run, path) == by_one


def test_a_sandbox_ticks_while_an_experiment_keeps_the_workers_busy(one):
    path = start(one, jobs=150, horizon="1h", seeds={"count": 40})
    made = one.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
    sandbox = f"/api/v1/sandboxes/{made['id']}"
    one.post(f"{sandbox}/actions/speed", {"speed": 10})
    one.post(f"{sandbox}/actions/step", {"ticks": 20})
    wait_for(lambda: one.get(f"{sandbox}/hash")["tick"] >= 20, "20 ticks")
    assert one.get(path)["state"] == "running"
    one.post(f"{path}/cancel", {})
    assert one.get(path)["state"] == "cancelled"
