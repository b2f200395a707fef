"""A worker's processes: each has its own queue, and none outlives the parent."""

from __future__ import annotations

import contextlib
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from celery import Celery

from sandbox.base import environment
from sandbox.models import Sandbox
from sandbox.process.celery import own_queue
from sandbox.process.services import bus_client
from sandbox.worker import pool as team
from sandbox.worker import pulses
from sandbox.worker.clock import LEASE
from tests.services import migrated
from tests.services.bus import running_bus
from tests.services.default_run import ROOT, DefaultRun, gone, wait_for


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[psutil.Popen]:
    """A `manage.py worker` of two processes, on a bus of its own."""
    variables = DefaultRun(tmp_path).environment
    data = Path(variables["QUOTALAB_DATA"])
    migrated.copy_to(data)
    socket = environment.bus_folder(data.resolve()) / "bus.sock"
    environment.make_private(socket.parent)
    with running_bus(socket), (tmp_path / "said").open("w") as said:
        running = psutil.Popen(
            [
                sys.executable,
                "manage.py",
                "worker",
                "--processes",
                "2",
                "--answering",
                "0",
            ],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stderr=said,
        )
        wait_for(lambda: len(running.children()) == 2, "two processes")
        yield running
        if running.poll() is None:
            running.kill()
            running.wait(5)


def test_a_process_that_is_killed_is_replaced_and_the_other_stays(worker):
    victim, other = worker.children()
    victim.kill()
    wait_for(lambda: victim not in worker.children(), "the end of one")
    wait_for(lambda: len(worker.children()) == 2, "two processes again")
    assert other in worker.children()


def test_the_process_for_ticks_comes_before_those_that_compute_for_long(worker):
    usual = worker.nice()
    wait_for(
        lambda: sorted(one.nice() for one in worker.children()) == [usual, usual + 5],
        "the nice values of both",
    )


def test_asked_to_end_it_ends_with_all_its_processes_and_says_that_all_went_well(
    worker,
):
    processes = worker.children()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(20) == 0
    assert gone(processes)


def test_the_processes_of_a_killed_worker_end_by_themselves(worker):
    processes = worker.children()
    worker.kill()
    worker.wait(5)
    wait_for(lambda: gone(processes), "the end of its processes")


def test_a_database_that_is_migrated_while_they_run_ends_worker_and_clock_with_a_sentence(
    worker, tmp_path
):
    data = tmp_path / "data"
    clock = subprocess.Popen(
        [sys.executable, "manage.py", "clock"],
        cwd=ROOT,
        env=worker.environ(),
        stderr=subprocess.PIPE,
        text=True,
    )
    bus = f"unix://{environment.bus_folder(data.resolve()) / 'bus.sock'}"
    with contextlib.closing(bus_client(bus)) as looked:
        wait_for(lambda: looked.exists(LEASE), "the clock")
    with contextlib.closing(sqlite3.connect(data / migrated.NAME)) as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('sandbox', '0999_later', '2026-01-01')"
        )
        database.commit()
    with Celery(broker=environment.broker(bus)) as anybody:
        anybody.send_task("sandbox.tidy")
    assert worker.wait(60) == 2
    said = (tmp_path / "said").read_text()
    assert "upgrade this worker" in said
    assert "0999_later" in said
    _, said = clock.communicate(timeout=60)
    assert "upgrade this clock" in said


def test_a_name_fits_where_it_is_noted_however_long_the_machines_is(monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "a-very-long-name." * 12)
    longest = Sandbox._meta.get_field("warm").max_length
    assert len(team.name_of(1000)) <= longest


@pytest.mark.django_db
def test_a_tick_goes_where_the_world_is_and_if_nobody_begins_it_to_anybody(
    busy, valkey
):
    bus, mine = valkey.client(), own_queue("0.7@here")
    Sandbox.objects.filter(pk=busy.pk).update(warm="0.7@here")
    pulses.pulse()
    assert (bus.llen(mine), bus.llen("ticks")) == (1, 0)
    Sandbox.objects.filter(pk=busy.pk).update(queued_until=time.time() - 1)
    pulses.pulse()
    assert (bus.llen(mine), bus.llen("ticks")) == (1, 1)
