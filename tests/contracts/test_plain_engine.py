"""The engine is plain Python: importing all of it loads no web library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
import importlib, pkgutil, sys
import scheduler

for found in pkgutil.walk_packages(scheduler.__path__, "scheduler."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
web = {"asgiref", "celery", "channels", "django", "kombu", "psycopg", "redis",
       "rest_framework", "sqlite3", "uvicorn", "sandbox", "api"}
print(*sorted(web & {name.partition(".")[0] for name in sys.modules}))
"""


def test_importing_the_whole_engine_loads_no_web_library():
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_packages_import_downwards_only():
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
