"""A database whose disk is full, or that takes no changes, while sandboxes play.

`./dev soak tests/load/test_no_space.py`, as root: a disk of 48 MiB is mounted for it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.faults.test_killed_runs import TICKS, TICKS_PER_S, Run
from tests.load.asking import with_token
from tests.services.default_run import DefaultRun, wait_for
from tests.services.postgres import Postgres
from tests.services.server import running_server

pytestmark = pytest.mark.soak


@pytest.fixture
def disk() -> Iterator[Path]:
    """A disk of 48 MiB, where the user that PostgreSQL runs as may look too."""
    place = Path(tempfile.mkdtemp(prefix="quotalab-disk-"))
    place.chmod(0o755)
    words = ["mount", "-t", "tmpfs", "-o", "size=48m,mode=777", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(words, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        place.rmdir()


def fill(disk: Path) -> Path:
    """Write until nothing more fits; return the file that takes the space."""
    file = disk / "filler"
    with file.open("ab", buffering=0) as out:
        for size in (2**20, 4096):
            with contextlib.suppress(OSError):
                while True:
                    out.write(bytes(size))
    return file


def refused(run: Any, path: str) -> tuple[int, str]:
    """Return how a change that no decision depends on is answered: code and message."""
    try:
        run.post(f"{path}/actions/speed", {"speed": TICKS_PER_S})
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["message"]
    return 200, ""


def readiness(run: Any) -> dict[str, str]:
    try:
        found: dict[str, str] = run.get("/readyz")
    except urllib.error.HTTPError as error:
        found = json.load(error)
    return found


def outlives(
    run: Any,
    expected: str,
    begin: Callable[[], object],
    end: Callable[[], object],
    name: str,
) -> None:
    """Begin a fault while a sandbox plays, and end it: what it decides stays the same."""
    one = Run(run)
    one.start()
    one.await_tick(TICKS // 3)
    begin()
    try:
        found = wait_for(
            lambda: (said := refused(run, one.path))[0] != 200 and said, "a refusal", 60
        )
        at = one.tick()
        time.sleep(4)  # what is measured is that nothing moves on in it
        stood = one.tick() - at
        ready = readiness(run)
        read = len(run.get(f"{one.path}/events")["items"])
        alive = run.get("/healthz")["status"]
        problem = run.get(one.path)["problem"]
    finally:
        end()
    begun = time.monotonic()
    one.await_tick(at + stood + 1)
    again_s = time.monotonic() - begun
    figures = {"refusal": found, "ready": ready, "ticksMeanwhile": stood}
    figures |= {"eventsRead": read, "goesOnAfterS": round(again_s, 1)}
    sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")
    assert (found[0], alive, problem) == (503, "ok", "")
    assert set(ready.values()) > {"ok"}, "/readyz names the fault"
    assert one.hash() == expected
    ticks = one.ticks_in_history()
    assert ticks == sorted(set(ticks))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    with DefaultRun(tmp_path_factory.mktemp("calm")) as calm:
        run = Run(calm)
        run.start()
        return run.hash()


def test_sqlite_on_a_full_disk(disk, expected):
    with DefaultRun(disk / "run") as run:
        filler: list[Path] = []
        outlives(
            run,
            expected,
            lambda: filler.append(fill(disk)),
            lambda: filler.pop().unlink(),
            "SQLite, full disk",
        )


def test_postgresql_on_a_full_disk_and_read_only(
    postgres: Postgres, disk, expected, tmp_path
):
    space = disk / "space"
    space.mkdir()
    with psycopg.connect(postgres.uri, autocommit=True) as database:
        data = database.execute("SHOW data_directory").fetchone()
        shutil.chown(space, Path(data[0]).stat().st_uid)
        database.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
    small = Postgres(postgres.uri)
    small.database = lambda name: _in_space(postgres, name)  # type: ignore[method-assign]
    try:
        with running_server(small, tmp_path) as server:
            run = with_token(server)
            filler: list[Path] = []
            outlives(
                run,
                expected,
                lambda: filler.append(fill(disk)),
                lambda: filler.pop().unlink(),
                "PostgreSQL, full disk",
            )
            outlives(
                run,
                expected,
                lambda: read_only(postgres, "on"),
                lambda: read_only(postgres, "off"),
                "PostgreSQL, read-only",
            )
    finally:
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(postgres.uri, autocommit=True) as database,
        ):
            database.execute("DROP DATABASE server_run WITH (FORCE)")
            database.execute("DROP TABLESPACE small")


def _in_space(postgres: Postgres, name: str) -> str:
    url = Postgres(postgres.uri).database(name)
    with psycopg.connect(postgres.uri, autocommit=True) as database:
        database.execute(f'ALTER DATABASE "{name}" SET TABLESPACE small')
    return url


def read_only(postgres: Postgres, word: str) -> None:
    """Let the database take changes or none, as a standby; connections begin anew."""
    with psycopg.connect(postgres.uri, autocommit=True) as database:
        database.execute(
            f"ALTER DATABASE server_run SET default_transaction_read_only = {word}"
        )
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'server_run'"
        )
