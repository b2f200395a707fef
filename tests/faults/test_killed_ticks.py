"""A process that is killed in the middle of a tick: all of the tick is there, or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from tests.sandbox.conftest import contended, text_of
from tests.services import migrated
from tests.services.default_run import ROOT
from tests.services.postgres import server_environment

#: QUOTALAB_KILLS=100 is the long run, in which a delete is killed at every statement.
KILLS = int(os.environ.get("QUOTALAB_KILLS", "5"))
TICKS = max(30, KILLS * 3)
STRIDE = 1 if KILLS > 10 else 8


def killed_run(environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.faults.killing",
            *map(str, (KILLS, TICKS, STRIDE)),
        ],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "sandbox.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def clean_hash() -> str:
    """Return the hash that the engine alone comes to."""
    files = [("world.yaml", text_of(*contended(40)))]
    world = assemble(files, seed=1).world
    for _ in range(TICKS):
        run_tick(world)
        world.take()
    return world.hash()


def check(found: dict[str, Any]) -> None:
    sys.stdout.write(f"\n{found['killed']} kills in mid-tick, {found['tries']} forks\n")
    assert found["killed"] >= KILLS
    assert found["tick"] == TICKS
    assert found["hash"] == clean_hash()
    assert found["samples"] == list(range(1, TICKS + 1))
    sys.stdout.write(f"{len(found['deletes'])} deletes that were killed\n")
    assert len(found["deletes"]) > 40 // STRIDE
    assert all(found["deletes"]), "a delete that was killed changed something"


def test_ticks_that_were_killed_are_made_once_on_sqlite(tmp_path):
    migrated.copy_to(tmp_path / "data")
    data = str(tmp_path / "data")
    check(killed_run({"PATH": os.environ["PATH"], "QUOTALAB_DATA": data}))


@pytest.mark.skipif(KILLS > 10, reason="the long run is on SQLite, and with workers")
def test_ticks_that_were_killed_are_made_once_on_postgresql(postgres):
    url = postgres.database("killed_ticks")
    check(killed_run(server_environment(url, "redis://unused")))
