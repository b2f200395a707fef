"""The default run under the worst treatment: it recovers, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.default_run import ROOT, DefaultRun, gone, wait_for


def bus_folder(default_run: DefaultRun) -> Path:
    words = " ".join(default_run.child("valkey").cmdline())
    return Path(words.partition("unixsocket:")[2].split()[0]).parent


def ends_by(default_run: DefaultRun, number: signal.Signals) -> None:
    """Send a signal: everything ends, and says that all went well."""
    family, folder = default_run.family(), bus_folder(default_run)
    assert len(family) >= 3
    default_run.process.send_signal(number)
    assert default_run.process.wait(60) == 0
    assert gone(family)
    assert not folder.exists()


def test_ctrl_c_ends_everything_and_says_that_all_went_well(default_run):
    ends_by(default_run, signal.SIGINT)
    assert "Traceback" not in default_run.says()


@pytest.fixture(scope="module")
def mending(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DefaultRun]:
    """A default run whose children are killed: it starts others, and ends by SIGTERM."""
    with DefaultRun(tmp_path_factory.mktemp("mending")) as running:
        yield running
        ends_by(running, signal.SIGTERM)


def test_a_killed_worker_is_started_again_and_its_children_do_not_stay(mending):
    worker = mending.child("py worker")
    pool = wait_for(lambda: worker.children(recursive=True), "the worker's pool")
    worker.kill()
    wait_for(lambda: mending.child("py worker").pid != worker.pid, "another worker")
    wait_for(lambda: gone(pool), "the end of the old pool")
    assert mending.ready()


def test_a_killed_bus_is_started_again(mending):
    bus = mending.child("valkey")
    bus.kill()
    wait_for(lambda: mending.child("valkey").pid != bus.pid, "another bus")
    wait_for(mending.ready, "an answer from the new bus")


def test_a_killed_parent_takes_everything_along_and_the_next_starts_as_ever(
    default_run,
):
    default_run.child("py worker")
    everything_ends_with(default_run)
    with DefaultRun(default_run.folder) as again:
        assert again.ready()
        guard = again.child("guard")
        guard.kill()
        wait_for(lambda: again.child("guard").pid != guard.pid, "another guard")
        everything_ends_with(again)


def everything_ends_with(default_run: DefaultRun) -> None:
    """Kill the parent: its guard ends all others, and removes the bus's folder."""
    family, folder = default_run.family(), bus_folder(default_run)
    default_run.process.kill()
    default_run.process.wait()
    wait_for(lambda: gone(family), "the end of every child")
    wait_for(lambda: not folder.exists(), "the end of the bus's folder")


def up(default_run: DefaultRun, *words: str) -> subprocess.CompletedProcess[str]:
    return manage(default_run, "up", "--no-open", *words)


def manage(default_run: DefaultRun, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=default_run.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_second_run_on_the_same_folder_learns_where_the_first_one_is(shared_run):
    second = up(shared_run, "--port", "0")
    assert second.returncode == 2
    assert f"already runs at {shared_run.url}" in second.stderr


def test_no_backup_is_restored_under_a_run_of_the_same_folder(shared_run, tmp_path):
    file = tmp_path / "all.backup"
    assert manage(shared_run, "backup", str(file)).returncode == 0
    refused = manage(shared_run, "restore", str(file), "--replace")
    assert refused.returncode == 2
    assert f"already runs at {shared_run.url}" in refused.stderr


def test_a_taken_port_is_named_with_another_one_to_try(shared_run, tmp_path):
    port = shared_run.url.rpartition(":")[2]
    other = DefaultRun(tmp_path)
    second = up(other, "--port", port)
    assert second.returncode == 2
    assert f"--port {int(port) + 1}" in second.stderr


@pytest.mark.parametrize("name", ["secret-key", "quotalab.sqlite3"])
def test_what_is_kept_on_disk_is_for_its_owner_alone(shared_run, name):
    folder = shared_run.folder / "data"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / name).exists()
