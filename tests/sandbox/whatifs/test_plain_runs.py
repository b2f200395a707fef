"""Runs without a change, in a process beside the worker that compares with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sandbox.process import watchdog
from sandbox.process.beside import can_fork
from sandbox.whatifs.work import PlainRuns
from scheduler.analysis.pairs import PairVerdict, compare_pair
from scheduler.assembly import merge
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import job, small_cluster, world_of

HORIZON_MS = 60_000
QUEUE = Key("ClusterQueue", "", "main")

pytestmark = pytest.mark.skipif(not can_fork(), reason="needs Linux and two processors")


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    """Be at work as a worker's process is."""
    with watchdog.ended_after(0):
        yield


@pytest.fixture
def world() -> World:
    jobs = [
        job(f"j{n}", queue="main", cpu="3", runtime="uniform(5s, 20s)")
        for n in range(4)
    ]
    found = world_of(*small_cluster(cpu="4"), *jobs)
    run_tick(found)
    return found


def give(world: World, amount: int) -> None:
    """Give the ClusterQueue so many CPUs."""
    manifest = world.objects[QUEUE].manifest
    (group,) = manifest["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    flavors = [{**flavor, "resources": [{"name": "cpu", "nominalQuota": str(amount)}]}]
    patch = {"spec": {"resourceGroups": [{**group, "flavors": flavors}]}}
    world.put(Object(key=QUEUE, manifest=merge(manifest, patch)))


def compared(
    world: World, amount: int, seeds: list[int], runs: PlainRuns | None = None
) -> PairVerdict:
    """Return the verdict of so many CPUs, with the runs given or with runs here."""

    def alter(side: World) -> None:
        give(side, amount)

    if runs is None:
        return compare_pair(world, alter, horizon_ms=HORIZON_MS, seeds=seeds)
    with runs.begun(world, seeds) as plain:
        return compare_pair(
            world, alter, horizon_ms=HORIZON_MS, seeds=seeds, plain=plain
        )


def test_what_ran_beside_gives_the_verdict_of_runs_here(world: World) -> None:
    runs = PlainRuns(HORIZON_MS)
    for amount, seeds in ((8, [1, 2, 3]), (2, [3]), (6, [4, 2])):
        assert compared(world, amount, seeds, runs) == compared(world, amount, seeds)


def test_a_run_that_went_past_a_stop_is_run_again_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.whatifs.work.can_fork", lambda: False)
    runs = PlainRuns(HORIZON_MS)
    compared(world, 8, [1, 3], runs)  # of a second seed the horizon alone is asked for
    assert compared(world, 2, [3], runs) == compared(world, 2, [3])


def test_a_process_that_is_lost_is_made_up_for(world: World) -> None:
    runs = PlainRuns(HORIZON_MS)
    with runs.begun(world, list(range(200))):
        (beside,) = set(runs._beside.values())
        os.kill(beside.process, signal.SIGKILL)
    assert compared(world, 8, [199], runs) == compared(world, 8, [199])


def test_what_is_ended_leaves_no_process(world: World) -> None:
    runs = PlainRuns(HORIZON_MS)
    with runs.begun(world, list(range(200))):
        (beside,) = set(runs._beside.values())
    runs.end()
    beside.reader.join()
    assert not psutil.pid_exists(beside.process)


ORPHAN = """
import time
from sandbox.process.beside import Beside
beside = Beside(lambda send, goes_on: time.sleep(600), standstill_s=600)
print(beside.process, flush=True)
time.sleep(600)
"""


def test_it_ends_with_the_process_that_began_it() -> None:
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], cwd=root, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    child.wait(timeout=60)
