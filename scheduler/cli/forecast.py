"""`python -m scheduler forecast`: when each waiting workload of a scenario starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from scheduler import durations
from scheduler.cli.run import read_sources
from scheduler.errors import SchedulerError
from scheduler.forecast.starts import Forecast, text_of
from scheduler.forecast.world import forecast
from scheduler.scenarios import assemble
from scheduler.tick import advance


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a scenario up to an instant and forecast from there; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        world = assemble(read_sources(options.paths)).world
        advance(world, durations.milliseconds(options.at))
        found = forecast(
            world,
            futures=options.futures,
            seed=options.seed,
            horizon_ms=durations.milliseconds(options.horizon),
        )
    except (SchedulerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out.write(_json(found) if options.json else text_of(found))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler forecast",
        description="Run a scenario up to an instant, then many futures of it with run "
        "times like those that finished, and say when each waiting workload starts.",
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--at", default="5m", help="the instant; 5m")
    parser.add_argument("--horizon", default="1h", help="how far a future goes; 1h")
    parser.add_argument("--futures", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser


def _json(found: Forecast) -> str:
    return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
