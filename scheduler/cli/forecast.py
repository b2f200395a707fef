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
from scheduler.forecast.world import Forecast, StartForecast, forecast
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
    out.write(_json(found) if options.json else _text(found))
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


def _text(found: Forecast) -> str:
    enough = "" if found.enough else ", not enough history"
    head = (
        f"at {found.now_ms / 1000:.0f} s: {len(found.starts)} wait; {found.futures} "
        f"futures, run times like {found.finished} that finished{enough}\n"
    )
    return head + "".join(map(_line, found.starts))


def _line(one: StartForecast) -> str:
    low, middle, high = map(_span, (one.p10_ms, one.p50_ms, one.p90_ms))
    return (
        f"{one.workload} in {one.queue}: starts in {low} to {high}, "
        f"likely {middle} ({one.basis})\n"
    )


def _span(value_ms: int | None) -> str:
    return "more than the horizon" if value_ms is None else f"{value_ms / 1000:.0f} s"
