"""Killed in the middle of a run: it goes on by itself, and decides the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

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
