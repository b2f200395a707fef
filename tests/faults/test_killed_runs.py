"""Killed in the middle of a run: it goes on by itself, and decides the same."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.services.default_run import DefaultRun, wait_for

SCENARIO = "friday-rush"
#: QUOTALAB_KILLS=100 is the long run.
KILLS = int(os.environ.get("QUOTALAB_KILLS", "10"))
TICKS = 60 + 2 * (KILLS - 10)
TICKS_PER_S = 20


class Run:
    """One sandbox that is to run TICKS ticks."""

    def __init__(self, default_run: DefaultRun) -> None:
        self.default_run = default_run
        made = default_run.post("/api/v1/sandboxes", {"scenario": SCENARIO})
        self.path = f"/api/v1/sandboxes/{made['id']}"

    def start(self) -> None:
        self.default_run.post(f"{self.path}/actions/speed", {"speed": TICKS_PER_S})
        self.default_run.post(f"{self.path}/actions/step", {"ticks": TICKS})

    def tick(self) -> int:
        return int(self.default_run.get(f"{self.path}/hash")["tick"])

    def await_tick(self, tick: int) -> None:
        wait_for(lambda: self.tick() >= tick, f"tick {tick}", every_s=0.1)

    def hash(self) -> str:
        """Return the hash at the end of the run."""
        self.await_tick(TICKS)
        answer = self.default_run.get(f"{self.path}/hash")
        assert answer["tick"] == TICKS
        return str(answer["hash"])

    def ticks_in_history(self) -> list[int]:
        items = self.default_run.get(f"{self.path}/samples")["items"]
        return [item["tick"] for item in items]


@pytest.fixture(scope="module")
def clean_hash(shared_run: DefaultRun) -> str:
    """The hash of a run that nothing happened to."""
    run = Run(shared_run)
    run.start()
    return run.hash()


@pytest.fixture(scope="module")
def mending(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DefaultRun]:
    """A default run whose children are killed: it starts others."""
    with DefaultRun(tmp_path_factory.mktemp("mending")) as default_run:
        yield default_run


def victim(default_run: DefaultRun, rng: random.Random) -> psutil.Process:
    """Return a process of the worker: one that ticks, and sometimes the parent."""
    worker = default_run.child("py worker")
    return rng.choice([worker, *worker.children() * 2])


def test_workers_killed_at_any_point_lose_and_double_nothing(mending, clean_hash):
    rng = random.Random(20)
    run = Run(mending)
    run.start()
    for at in sorted(rng.sample(range(1, TICKS - 1), KILLS)):
        run.await_tick(at)
        victim(mending, rng).kill()
    assert run.hash() == clean_hash
    assert run.ticks_in_history() == sorted(set(run.ticks_in_history()))


def test_a_bus_killed_in_the_middle_changes_nothing(mending, clean_hash):
    rng = random.Random(5)
    for _ in range(max(1, KILLS // 10)):
        run = Run(mending)
        run.start()
        for at in sorted(rng.sample(range(1, TICKS - 1), 2)):
            run.await_tick(at)
            mending.child("valkey").kill()
        assert run.hash() == clean_hash


def test_a_default_run_killed_in_the_middle_goes_on_at_the_next_start(
    default_run, clean_hash
):
    run = Run(default_run)
    run.start()
    run.await_tick(TICKS // 2)
    default_run.process.kill()
    default_run.process.wait(10)
    with DefaultRun(default_run.folder) as again:
        run.default_run = again
        assert run.hash() == clean_hash


#: Hours of it take a worker longer than any test.
FOR_LONG = {
    "kind": "Experiment",
    "spec": {
        "base": {"scenario": SCENARIO},
        "seeds": {"count": 1},
        "horizon": "9000h",
    },
}


def end_who_runs(default_run: DefaultRun, row: Callable[[str], int]) -> None:
    """Send SIGTERM to all processes of the worker; kill the one that does not end."""
    processes = default_run.child("py worker").children()
    for one in processes:
        one.send_signal(signal.SIGTERM)
    wait_for(lambda: row("tries") == 0, "the try taken back")
    wait_for(lambda: sum(map(psutil.Process.is_running, processes)) == 1, "the others")
    for one in processes:
        if one.is_running():
            one.kill()


def test_a_run_goes_on_however_often_the_operators_stop_killed_its_worker(mending):
    mending.post("/api/v1/experiments", {"document": FOR_LONG})
    database = sqlite3.connect(
        Path(mending.environment["QUOTALAB_DATA"], "quotalab.sqlite3"),
        isolation_level=None,
    )

    def row(column: str) -> int:
        found = database.execute(f"SELECT {column} FROM sandbox_run").fetchone()
        return int(found[0])

    with contextlib.closing(database):
        for fence in (1, 2, 3):
            wait_for(lambda: row("fence") == fence, f"worker {fence}")  # noqa: B023
            end_who_runs(mending, row)
            database.execute("UPDATE sandbox_run SET lease_until = 0")
        wait_for(lambda: row("fence") == 4, "one more worker")
        assert row("state = 'running'")
