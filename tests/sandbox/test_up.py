"""The default run under the worst treatment: it recovers, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.services.default_run import ROOT, DefaultRun, wait_for


def gone(processes: list[psutil.Process]) -> bool:
    return not any(one.is_running() for one in processes)


def bus_folder(house: DefaultRun) -> Path:
    words = " ".join(house.child("valkey").cmdline())
    return Path(words.partition("unixsocket:")[2].split()[0]).parent


def test_ctrl_c_ends_everything_and_says_that_all_went_well(house):
    family, folder = house.family(), bus_folder(house)
    assert len(family) >= 3
    assert house.end() == 0
    assert gone(family)
    assert not folder.exists()
    assert "Traceback" not in house.says()


def test_sigterm_ends_everything_too(house):
    family = house.family()
    house.process.send_signal(signal.SIGTERM)
    assert house.process.wait(30) == 0
    assert gone(family)


def test_a_killed_worker_is_started_again(house):
    worker = house.child("py worker")
    worker.kill()
    wait_for(lambda: house.child("py worker").pid != worker.pid, "another worker")
    assert house.ready()


def test_the_children_of_a_killed_worker_do_not_stay(house):
    worker = house.child("py worker")
    pool = wait_for(lambda: worker.children(recursive=True), "the worker's pool")
    worker.kill()
    wait_for(lambda: gone(pool), "the end of the old pool")


def test_a_killed_bus_is_started_again(house):
    bus = house.child("valkey")
    bus.kill()
    wait_for(lambda: house.child("valkey").pid != bus.pid, "another bus")
    wait_for(house.ready, "an answer from the new bus")


def test_a_killed_parent_takes_everything_along(house):
    house.child("py worker")
    family, folder = house.family(), bus_folder(house)
    house.process.kill()
    house.process.wait(10)
    wait_for(lambda: gone(family), "the end of every child")
    wait_for(lambda: not folder.exists(), "the end of the bus's folder")


def test_a_run_after_a_killed_one_starts_as_ever(house):
    house.process.kill()
    house.process.wait(10)
    with DefaultRun(house.folder) as again:
        assert again.ready()


def test_a_killed_guard_is_replaced_and_still_guards(house):
    guard = house.child("guard")
    guard.kill()
    wait_for(lambda: house.child("guard").pid != guard.pid, "another guard")
    family = house.family()
    house.process.kill()
    house.process.wait(10)
    wait_for(lambda: gone(family), "the end of every child")


def up(house: DefaultRun, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "up", "--no-open", *words],
        cwd=ROOT,
        env=house.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_second_run_on_the_same_folder_is_told_where_the_first_one_is(shared_house):
    second = up(shared_house, "--port", "0")
    assert second.returncode == 1
    assert f"already runs at {shared_house.url}" in second.stderr


def test_a_taken_port_is_named_with_another_one_to_try(shared_house, tmp_path):
    port = shared_house.url.rpartition(":")[2]
    other = DefaultRun(tmp_path)
    second = up(other, "--port", port)
    assert second.returncode == 1
    assert f"--port {int(port) + 1}" in second.stderr


@pytest.mark.parametrize("name", ["secret-key", "quotalab.sqlite3"])
def test_what_is_kept_on_disk_is_for_its_owner_alone(shared_house, name):
    folder = shared_house.folder / "data"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / name).exists()
