"""`python -m scheduler rerun`: a recording's input, run again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.cli.recording_folder import read_folder, read_snapshot
from scheduler.errors import SchedulerError
from scheduler.recordings.rerun import rerun
from scheduler.records.latencies import INSTANT, USUAL


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a recording again and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        recording = read_folder(options.folder)
        found = rerun(
            recording,
            _simulation(options),
            measured=options.latencies == "recorded",
            seed=options.seed,
            snapshot=read_snapshot(options.folder, options.snapshot),
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
    parser.add_argument("folder", type=Path, metavar="FOLDER")
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
        help="go on from this snapshot of the folder (a file, or its second) with the "
        "arrivals after it, instead of from t=0",
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _simulation(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings; the arrivals are those of Workloads that exist."""
    if options.latencies == "none":
        return {"latencies": None}
    given = msgspec.structs.replace(USUAL, workload_creation=INSTANT)
    return {"latencies": msgspec.to_builtins(given)}
