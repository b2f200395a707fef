"""The command line of the engine: `python -m scheduler run`, and other verbs."""

from __future__ import annotations

import sys

from scheduler.cli.statuses import ended
from scheduler.cli.verbs import VERBS


def main(arguments: list[str]) -> int:
    """Run one verb; return the exit status.

    0 good, 1 an assertion failed, 2 the input is refused, 3 a fault of the program.
    """
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None:
        for name, one in VERBS.items():
            sys.stderr.write(f"python -m scheduler {name} {one.usage}\n")
        return 2
    return ended(lambda: verb.run(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
