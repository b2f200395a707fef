"""The command line of the engine: `python -m scheduler run` and `replay`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from scheduler import replay, run

VERBS: dict[str, Callable[[list[str]], int]] = {
    "run": run.main,
    "replay": replay.main,
}
USAGE = """usage: python -m scheduler run SCENARIO_FOLDER | FILE... [--until 10m] [--json]
       python -m scheduler replay VECTORS... [--show ID]
"""


def main(arguments: list[str]) -> int:
    """Run one verb; return the exit code."""
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None:
        sys.stderr.write(USAGE)
        return 2
    return verb(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
