"""`python -m scheduler would`: whether work would start if it were submitted, and when."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from scheduler.analysis.explain import to_document
from scheduler.analysis.explain.would import lines_of, would
from scheduler.analysis.forecast.submission import read_submission
from scheduler.cli.files import add_stack_word
from scheduler.cli.run import read_sources, world_at
from scheduler.cli.run_time_words import add_run_time_words, run_time_choice
from scheduler.cli.statuses import refused
from scheduler.model import durations
from scheduler.model.errors import SchedulerError


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Submit files to a copy of a scenario at an instant; 1 where they never start, 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        world = world_at(options.on, options.at, options.stack)
        choice = run_time_choice(options)
        files = read_sources([options.job])
        objects = read_submission(world, files, run_times=choice)
        span = durations.span_ms(options.horizon)
        found = to_document(would(world, objects, horizon_ms=span))
    except (SchedulerError, OSError) as error:
        return refused(error)
    if options.json:
        out.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
    else:
        out.writelines(f"{line}\n" for line in lines_of(found))
    return 1 if found["starts"] == "never" else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler would",
        description="Say whether work would start if it were submitted, when, and whom it "
        "would displace; and with which change of it it starts now.",
        epilog="example: python -m scheduler would job.yaml --on sandbox/scenarios/"
        "friday-rush --at 2m30s",
    )
    parser.add_argument("job", type=Path, metavar="JOB", help="the file of the work")
    parser.add_argument(
        "--on",
        type=Path,
        nargs="+",
        required=True,
        metavar="PATH",
        help="files of the world that it is submitted to",
    )
    parser.add_argument("--at", default="5m", help="the instant; 5m")
    parser.add_argument("--horizon", default="24h", help="how far is looked; 24h")
    parser.add_argument("--json", action="store_true")
    add_run_time_words(parser)
    add_stack_word(parser)
    return parser
