"""Tests marked `both_databases` pass on PostgreSQL as they do on SQLite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.services.postgres import server_environment

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_marked_passes_on_postgresql(postgres, valkey):
    # By name: to read all other files, only to leave them out, takes as long as some.
    marked = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "both_databases" in path.read_text() and path != Path(__file__)
    ]
    assert marked
    command = [sys.executable, "-m", "pytest", *marked, "-m", "both_databases", "-p"]
    done = subprocess.run(
        [*command, "no:cacheprovider", "-q", "--create-db"],
        cwd=ROOT,
        env=server_environment(postgres.database("marked"), valkey.url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
