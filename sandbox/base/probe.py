"""`python -m sandbox.base.probe`: whether the server or worker beside it is well, for health checks.

Plain Python that loads nothing heavy: it is run every few seconds for ever.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

# A worker touches its file every 2 s, a clock every second.
FRESH_S = 15.0
USAGE = "usage: python -m sandbox.base.probe web | alive (its file is ALIVE_FILE)"


def main(arguments: list[str]) -> int:
    """Return 0 when all is well; else say what is wrong and return 1."""
    checks = {"web": web, "alive": alive}
    if len(arguments) != 1 or arguments[0] not in checks:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    trouble = checks[arguments[0]]()
    if trouble:
        sys.stderr.write(f"{trouble}\n")
    return int(bool(trouble))


def web() -> str:
    """Ask /readyz of the server on this machine, under a name that it accepts."""
    port = os.environ.get("UVICORN_PORT", "8000")
    name = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].lstrip(".*")
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/readyz", headers={"Host": name or "localhost"}
    )
    try:
        urllib.request.urlopen(request, timeout=5).close()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return f"{refusal.code}: {refusal.read(500).decode(errors='replace')}"
    except OSError as problem:
        return f"no answer on port {port}: {problem}"
    return ""


def alive() -> str:
    """Look when the file in ALIVE_FILE was last touched."""
    path = os.environ.get("ALIVE_FILE", "")
    try:
        age_s = time.time() - Path(path).stat().st_mtime
    except OSError as problem:
        return f"ALIVE_FILE {path!r}: {problem.strerror}"
    return "" if age_s < FRESH_S else f"last sign of life {age_s:.0f} s ago"


def show_life() -> None:
    """Touch the file in ALIVE_FILE, if that is set."""
    if path := os.environ.get("ALIVE_FILE"):
        Path(path).touch()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
