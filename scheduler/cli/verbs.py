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
    sandbox: `takes_either`, or `do` alone outside of `python -m scheduler`. Then `help`
    is said with `do`.
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
        """Run the verb on files; return the exit status."""
        status: int = importlib.import_module(self.module).main(words)
        return status


def _of_files(usage: str, name: str, help_: str = "", *, either: bool = False) -> Verb:
    # By the name of this package: in the wheel it is another.
    return Verb(help_, usage, f"{__package__}.{name}", takes_either=either)


VERBS: dict[str, Verb] = {
    "run": _of_files(
        "SCENARIO_FOLDER | FILE... [--until 10m] [--json]", "run", either=True
    ),
    "experiment": _of_files("FILE [--json] [--junit F]", "experiment"),
    "advise": _of_files(
        "GOAL [FILE...] [--estimate] [--patches F] [--html F] [--markdown F]",
        "advise",
        "search for the smallest change that reaches a goal, and prove it",
    ),
    "reproduce": _of_files(
        "PATH... TYPE [--subject KEY] [--until 10m]", "reproduce", either=True
    ),
    "shadow": _of_files("FOLDER|FILE [--details]", "shadow", either=True),
    "incident": _of_files(
        "FILE.qrec [--at 10m] --into FOLDER", "incident", either=True
    ),
    "convert": _of_files(
        "PATH... [--to kueue|yunikorn]",
        "convert",
        "write manifests of Volcano, KAI, Kueue or YuniKorn for another system",
    ),
    "explain": _of_files(
        "PATH... [--at 5m] [--about NAME] [--json]", "explain", either=True
    ),
    "would": _of_files(
        "JOB --on PATH... [--at 5m] [--horizon 24h] [--json]", "would", either=True
    ),
    "forecast": _of_files(
        "PATH... [--at 5m] [--horizon 1h] [--json]", "forecast", either=True
    ),
    "plan": _of_files(
        "CHANGED [--against BASE | --git A..B] --on WORK [--assert FILE]\n"
        "       --release 0.16.4 --against 0.19.2 --on WORK [--json]",
        "plan",
        "say what another policy or release would do to the same work, and hold it to "
        "assertions",
    ),
    "fit": _of_files(
        "TRACE [--queue NAME] [--weeks 1]",
        "fit",
        "print the load of a trace as a Load to be run with other queues",
    ),
    "snippet": _of_files(
        "[cluster|yunikorn|git]",
        "snippet",
        "print a line for a shell that brings a cluster: kubectl alone, nothing secret",
    ),
}
