"""Messages that come twice, late or out of order: every tick is made once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest
from celery import Celery

from sandbox.base import environment
from tests.faults.test_killed_runs import Run, clean_hash  # noqa: F401 - a fixture
from tests.services.default_run import ROOT, DefaultRun, wait_for

COPIES = 300


def bus_of(default_run: DefaultRun) -> Celery:
    """Return something that sends messages to the default run's workers."""
    words = " ".join(default_run.child("valkey").cmdline())
    socket = words.partition("unixsocket:")[2].split()[0]
    return Celery("stranger", broker=environment.broker(f"unix://{socket}"))


def flood(default_run: DefaultRun, runs: list[Run]) -> None:
    """Send what the clock sends, many times over, in an order of the seed's."""
    calls = [("sandbox.advance", (run.path.rpartition("/")[2],)) for run in runs]
    calls = [*calls, ("sandbox.look", ())] * COPIES
    random.Random(20).shuffle(calls)
    bus = bus_of(default_run)
    for name, words in calls:
        bus.send_task(name, words, expires=60, ignore_result=True)


@pytest.fixture
def rival(shared_run: DefaultRun) -> Iterator[psutil.Popen]:
    """A second worker on the shared run's bus and database."""
    command = [sys.executable, "manage.py", "worker", "--processes", "2"]
    running = psutil.Popen(
        command, cwd=ROOT, env=shared_run.environment, stdin=subprocess.DEVNULL
    )
    yield running
    running.terminate()
    running.wait(30)


def test_what_comes_twice_and_out_of_order_is_done_once(shared_run, clean_hash):  # noqa: F811
    runs = [Run(shared_run) for _ in range(2)]
    for run in runs:
        run.start()
    flood(shared_run, runs)
    for run in runs:
        assert run.hash() == clean_hash
        assert run.ticks_in_history() == sorted(set(run.ticks_in_history()))


def test_workers_that_race_for_one_sandbox_make_every_tick_once(
    shared_run,
    rival,
    clean_hash,  # noqa: F811
):
    wait_for(lambda: len(rival.children()) == 3, "the other worker")
    run = Run(shared_run)
    run.start()
    flood(shared_run, [run])
    assert run.hash() == clean_hash
    assert run.ticks_in_history() == sorted(set(run.ticks_in_history()))
