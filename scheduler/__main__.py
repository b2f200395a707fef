"""The command line of the engine: `python -m scheduler run`, and other verbs."""

from __future__ import annotations

import importlib
import sys

from scheduler.cli.statuses import ended

#: Each verb is a module with `main(arguments) -> exit code`, loaded when called.
VERBS = {
    "run": "scheduler.cli.run",
    "experiment": "scheduler.cli.experiment",
    "advise": "scheduler.cli.advise",
    "reproduce": "scheduler.cli.reproduce",
    "incident": "scheduler.cli.incident",
    "convert": "scheduler.cli.convert",
    "shadow": "scheduler.cli.shadow",
    "explain": "scheduler.cli.explain",
    "forecast": "scheduler.cli.forecast",
    "fit": "scheduler.cli.fit",
    "snippet": "scheduler.cli.snippet",
    "plan": "scheduler.cli.plan",
    "check": "scheduler.cli.plan",  # its name in 0.1
}
USAGE = """usage: python -m scheduler run SCENARIO_FOLDER | FILE... [--until 10m] [--json]
       python -m scheduler experiment FILE [--json] [--junit F]
       python -m scheduler advise GOAL [FILE...] [--estimate] [--patches F] [--html F] [--markdown F]
       python -m scheduler reproduce PATH... TYPE [--subject KEY] [--until 10m]
       python -m scheduler shadow FOLDER|FILE [--details]
       python -m scheduler incident FILE.qrec [--at 10m] --into FOLDER
       python -m scheduler convert PATH... [--to kueue|yunikorn]
       python -m scheduler explain PATH... [--at 5m] [--workload NAME] [--json]
       python -m scheduler forecast PATH... [--at 5m] [--horizon 1h] [--json]
       python -m scheduler plan CHANGED [--against BASE | --git A..B] --on WORK [--assert FILE]
       python -m scheduler plan --release 0.16.4 --against 0.19.2 --on WORK [--json]
       python -m scheduler fit TRACE [--queue NAME] [--weeks 1]
       python -m scheduler snippet [cluster|yunikorn|git]
"""


def main(arguments: list[str]) -> int:
    """Run one verb; return the exit status.

    0 good, 1 an assertion failed, 2 the input is refused, 3 a fault of the program.
    """
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None:
        sys.stderr.write(USAGE)
        return 2
    return ended(lambda: int(importlib.import_module(verb).main(arguments[1:])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
