"""A migrated database, made once for all processes of a session.

To migrate an empty one takes two thirds of a start. Wheels and fresh copies do it;
other default runs, and the tests of each process of `./dev test`, begin with a copy.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "QUOTALAB_TEST_MIGRATED"
NAME = "quotalab.sqlite3"


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder that the workers of pytest-xdist find in their environment."""
    if not hasattr(config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="quotalab-migrated-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


def copy_to(data: Path) -> None:
    """Make the data folder of a run that has been started before."""
    data.mkdir(mode=0o700, parents=True)
    copy_file(data / NAME)


def copy_file(path: Path) -> None:
    """Copy the database, which the first who asks for it makes."""
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not (folder / NAME).exists():
            _migrate(folder / "made")
            (folder / "made" / NAME).rename(folder / NAME)
    shutil.copy2(folder / NAME, path)


@pytest.fixture(scope="session")
def django_db_keepdb(
    request: pytest.FixtureRequest,
    django_db_modify_db_settings: None,  # names the file of this process
) -> Iterator[bool]:
    """Let each process of `./dev test` begin with the database of all.

    A single process would wait for it as long as it takes to migrate its own.
    """
    if settings.SERVER or not hasattr(request.config, "workerinput"):
        yield bool(request.config.getvalue("reuse_db"))
        return
    path = settings.DATABASES["default"]["TEST"]["NAME"]
    copy_file(Path(path))
    yield True
    connections.close_all()
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _migrate(data: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(data)},
        stdin=subprocess.DEVNULL,
        check=True,
    )
