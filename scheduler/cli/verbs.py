"""The verbs, in one list: what each is for, and what does it on files.

`python -m scheduler VERB` does those that take files. `quotalab VERB` does them too, and
the page's: `api/command` adds to this list what each verb asks of a sandbox.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


def _nothing(part: argparse.ArgumentParser) -> None:
    """Add no words."""


@dataclass(slots=True)
class Verb:
    """One verb: how it is called, and what does it.

    `module` has `main(words) -> exit status`, and `usage` are its words. `do` asks the
    API with the words of `arguments`. `process` marks a process of this machine, which
    is a management command. A verb that has both `module` and `do` is given files, or a
    sandbox: `takes_either`, or `do` alone outside of `python -m scheduler`.
    """

    help: str
    usage: str = ""
    module: str = ""
    takes_either: bool = False
    process: bool = False
    examples: tuple[str, ...] = ()
    arguments: Callable[[argparse.ArgumentParser], None] = field(default=_nothing)
    do: Callable[[Any], Any] | None = None

    def run(self, words: Sequence[str]) -> int:
        """Do it on files; return the exit status."""
        status: int = importlib.import_module(self.module).main(words)
        return status


def _of_files(help_: str, usage: str, name: str, *, either: bool = False) -> Verb:
    # By the name of this package: in the wheel it is another.
    return Verb(help_, usage, f"{__package__}.{name}", takes_either=either)


VERBS: dict[str, Verb] = {
    "run": _of_files(
        "run files or the folder of a scenario to an instant",
        "SCENARIO_FOLDER | FILE... [--until 10m] [--json]",
        "run",
        either=True,
    ),
    "experiment": _of_files(
        "run variants x seeds, and hold them to assertions",
        "FILE [--json] [--junit F]",
        "experiment",
    ),
    "advise": _of_files(
        "search for the smallest change that reaches a goal, and prove it",
        "GOAL [FILE...] [--estimate] [--patches F] [--html F] [--markdown F]",
        "advise",
    ),
    "reproduce": _of_files(
        "find the smallest world that still shows a decision",
        "PATH... TYPE [--subject KEY] [--until 10m]",
        "reproduce",
        either=True,
    ),
    "shadow": _of_files(
        "hold a real cluster's decisions against what this engine decides",
        "FOLDER|FILE [--details]",
        "shadow",
        either=True,
    ),
    "incident": _of_files(
        "write a recorded cluster at an instant, with what really came after it",
        "FILE.qrec [--at 10m] --into FOLDER",
        "incident",
        either=True,
    ),
    "convert": _of_files(
        "write manifests of Volcano, KAI, Kueue or YuniKorn for another system",
        "PATH... [--to kueue|yunikorn]",
        "convert",
    ),
    "explain": _of_files(
        "say what waits and for what, or why anything is as it is",
        "PATH... [--at 5m] [--about NAME] [--json]",
        "explain",
        either=True,
    ),
    "would": _of_files(
        "say whether work would start if it were submitted, when, and at whose cost",
        "JOB --on PATH... [--at 5m] [--horizon 24h] [--json]",
        "would",
        either=True,
    ),
    "forecast": _of_files(
        "say when each waiting workload starts",
        "PATH... [--at 5m] [--horizon 1h] [--json]",
        "forecast",
        either=True,
    ),
    "plan": _of_files(
        "say what another policy or release would do to the same work, and hold it to "
        "assertions",
        "CHANGED [--against BASE | --git A..B] --on WORK [--assert FILE]\n"
        "       --release 0.16.4 --against 0.19.2 --on WORK [--json]",
        "plan",
    ),
    "fit": _of_files(
        "print the load of a trace as a Load to be run with other queues",
        "TRACE [--queue NAME] [--weeks 1]",
        "fit",
    ),
    "snippet": _of_files(
        "print a line for a shell that brings a cluster: kubectl alone, nothing secret",
        "[cluster|yunikorn|git]",
        "snippet",
    ),
}
