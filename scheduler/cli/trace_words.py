"""The words of a command that say how the traces among its files are taken."""

from __future__ import annotations

import argparse
from typing import Any

from scheduler.input.traces.options import TraceOptions, read_options
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected, in_field


def add_trace_words(parser: argparse.ArgumentParser) -> None:
    """Add them; each is left out unless given."""
    part = parser.add_argument_group("traces (.swf, .csv, .sktrace, also packed)")
    part.add_argument(
        "--queue-by", metavar="COLUMN", help="its values name the LocalQueues"
    )
    part.add_argument("--queue", help="LocalQueue of the other jobs")
    part.add_argument(
        "--queues", metavar="VALUE=QUEUE[,..]", help="LocalQueue of a column's value"
    )
    part.add_argument("--pace", type=float, help="2 = the jobs come twice as fast")
    part.add_argument("--begin", help="leave out what came before, e.g. 2h")
    part.add_argument("--end", help="leave out what came after, e.g. 8h")
    part.add_argument("--most", type=int, help="take so many jobs at most")
    part.add_argument(
        "--columns",
        metavar="FIELD=COLUMN[:UNIT][,..]",
        help="which column of a table gives what, e.g. submit=created:ms,gpu=ngpus",
    )
    part.add_argument(
        "--totals", action="store_true", help="amounts are of a job, not of a pod"
    )


def traces_of(words: argparse.Namespace) -> dict[str, Any]:
    """Return the given options as requests carry them. Raises SchedulerError."""
    found: dict[str, Any] = {}
    for name, key in (
        ("queue_by", "queueBy"),
        ("queue", "queue"),
        ("pace", "pace"),
        ("begin", "begin"),
        ("end", "end"),
        ("most", "most"),
        ("totals", "totals"),
    ):
        if getattr(words, name):
            found[key] = getattr(words, name)
    for name in ("queues", "columns"):
        if given := getattr(words, name):
            found[name] = dict(_pair(name, part) for part in given.split(","))
    return found


def options_of(words: argparse.Namespace) -> TraceOptions:
    """Return the given options, checked. Raises SchedulerError."""
    return read_options(traces_of(words))


def _pair(name: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise SchedulerError(
            in_field(
                f"--{name}", expected(Wanted.LITERAL.said(literal="NAME=VALUE"), text)
            )
        )
    return key.strip(), value.strip()
