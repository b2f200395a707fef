"""The words of a command that say how long work takes that nobody gave a run time."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from scheduler.cli.files import read_bytes
from scheduler.input.manifests.chosen_run_times import RunTimeChoice, read_rule
from scheduler.input.traces.options import TraceOptions, read_options
from scheduler.model.errors import SchedulerError
from scheduler.model.policy import RunTimesFrom
from scheduler.model.problems import RequestProblem, Wanted, expected, in_field
from scheduler.recorded.ended_work import ended_in_files


def add_run_time_words(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how long work runs."""
    parser.add_argument(
        "--run-time",
        action="append",
        default=[],
        metavar="[TERMS:]SPAN",
        help="for work without a run time: 5m, or of some work alone, "
        "'queue=research,name=train-*:lognormal(median 5m, p90 20m)'; may be given "
        "several times, the first that matches counts",
    )
    parser.add_argument(
        "--run-times-from",
        metavar="WHAT",
        help="for work without a run time: sleep, deadline, sleep-deadline, or a "
        "recording, dump or trace in which its like ended",
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse work without a run time"
    )


def run_time_choice(words: argparse.Namespace) -> RunTimeChoice:
    """Return the run-time choice of these words.

    Raises SchedulerError for an invalid rule, for what is neither a file nor a
    word of the policy, and for a file in which no work ended; OSError.
    """
    rules = [read_rule(text) for text in words.run_time]
    reads, path = run_times_from(words)
    if path is None:
        return RunTimeChoice(rules=rules, reads=reads, strict=words.strict)
    ended = ended_in_files(list(read_bytes([path])))
    if not ended:
        raise SchedulerError(f"{path}: {RequestProblem.NONE_ENDED.said()}")
    return RunTimeChoice(
        rules=rules, like=ended, like_name=path.name, strict=words.strict
    )


def run_times_from(
    words: argparse.Namespace,
) -> tuple[RunTimesFrom | None, Path | None]:
    """Return what `--run-times-from` names: a word of the policy, or a file or folder.

    Raises SchedulerError for what is neither.
    """
    given = words.run_times_from
    known = get_args(RunTimesFrom)
    if given is None or given in known:
        return given, None
    path = Path(given)
    if path.exists():
        return None, path
    near = get_close_matches(given, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise SchedulerError(
        f"--run-times-from {path}: expected a file, or one of {', '.join(known)}{hint}"
    )


# ------------------------------------------------------------------------
# The words of a command that say how the traces among its files are taken.


def add_trace_words(parser: argparse.ArgumentParser) -> None:
    """Add them; each is left out unless given."""
    part = parser.add_argument_group("traces (.swf, .csv, also packed)")
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
