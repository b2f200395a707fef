"""What is asked for seldom is not loaded at every start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Large packages that a search, an assistant or a followed cluster needs, and nobody else.
SELDOM = ("optuna", "sqlalchemy", "alembic", "mcp", "kubernetes", "scipy")
PROGRAM = f"""
import contextlib, io, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "sandbox.settings"
from api.command import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(["--help"])
import sandbox.live.asgi, api.urls
from sandbox.worker import pool
pool.load()
print(*[name for name in {SELDOM!r} if name in sys.modules])
"""


def test_help_web_and_worker_start_without_what_few_need():
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == []
