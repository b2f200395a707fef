"""The modules of the client that are made of the schema, and not in the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "api/client/records.py"
OPERATIONS = ROOT / "api/client/operations.py"


def make_missing() -> None:
    """Make them in a checkout that has none yet, which takes four seconds.

    In a process of its own: making them loads every view, and who asks may not want to.
    """
    if not (RECORDS.exists() and OPERATIONS.exists()):
        command = [sys.executable, str(ROOT / "manage.py"), "apitypes", "--client"]
        subprocess.run(command, check=True)
