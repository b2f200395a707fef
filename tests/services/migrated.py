"""A migrated database for default runs, made once for all processes of a session.

To migrate an empty one takes two thirds of a start. Shared runs, wheels and fresh copies
do it; the others begin with a copy of this one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

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
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not (folder / NAME).exists():
            _migrate(folder / "made")
            (folder / "made" / NAME).rename(folder / NAME)
    data.mkdir(mode=0o700, parents=True)
    shutil.copy2(folder / NAME, data / NAME)


def _migrate(data: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(data)},
        stdin=subprocess.DEVNULL,
        check=True,
    )
