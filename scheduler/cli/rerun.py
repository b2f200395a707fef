"""`python -m scheduler rerun`: a recording's input, run again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler import durations
from scheduler.cli.recording_file import read_file
from scheduler.cli.recording_folder import read_folder, read_snapshot
from scheduler.errors import SchedulerError
from scheduler.recordings.followed import recording_of, snapshot
from scheduler.recordings.recording import Recording
from scheduler.recordings.rerun import rerun
from scheduler.recordings.worlds import Source
from scheduler.records.latencies import INSTANT, USUAL


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a recording again and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        recording, standing, start = _read(options.recording, options.snapshot)
        found = rerun(
            recording,
            {**_simulation(options), **start},
            measured=options.latencies == "recorded",
            seed=options.seed,
            snapshot=standing,
        )
    except (SchedulerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out.write(f"{found}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler rerun",
        description="Run a recording's queues, nodes, arrivals and run times again, "
        "and say how near the admissions are to those that were recorded.",
    )
    parser.add_argument(
        "recording",
        type=Path,
        metavar="FOLDER|FILE",
        help="a recording's folder or a .qrec file, which goes on from its begin",
    )
    parser.add_argument(
        "--latencies",
        choices=("default", "recorded", "none"),
        default="default",
        help="how long steps take: the defaults of a policy, as measured from the "
        "recording's watch events, or no time at all",
    )
    parser.add_argument(
        "--from",
        dest="snapshot",
        metavar="SNAPSHOT",
        help="go on from this snapshot of the folder (a file, or its second), or from "
        "this second of the file, with the arrivals after it, instead of from t=0",
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _read(
    path: Path, given: str | None
) -> tuple[Recording, Source | None, dict[str, str]]:
    """Return a recording, the snapshot that its run goes on from, and its time."""
    if not path.is_file():
        return read_folder(path), read_snapshot(path, given), {}
    if given is not None and not given.isdecimal():
        raise SchedulerError(f"--from: expected a second of {path}, got {given!r}")
    found = read_file(path)
    at_us = found.start_us + 1_000_000 * int(given or 0)
    start = {"startTime": durations.stamp_text(at_us)}
    return recording_of(found, path.stem), snapshot(found, at_us), start


def _simulation(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings; the arrivals are those of Workloads that exist."""
    if options.latencies == "none":
        return {"latencies": None}
    given = msgspec.structs.replace(USUAL, workload_creation=INSTANT)
    return {"latencies": msgspec.to_builtins(given)}
