"""The words of a command that say how long work takes that nobody gave a run time."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from scheduler.cli.files import read_bytes
from scheduler.input.manifests.chosen_run_times import RunTimeChoice, read_rule
from scheduler.model.errors import SchedulerError
from scheduler.model.policy import RunTimesFrom
from scheduler.model.problems import RequestProblem
from scheduler.recorded.ended_work import ended_in_files


def add_run_time_words(parser: argparse.ArgumentParser) -> None:
    """Add them."""
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
