"""`python -m scheduler forecast`: when each waiting workload of a scenario starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.analysis.forecast.starts import (
    Forecast,
    SubmissionForecast,
    submission_text_of,
    text_of,
)
from scheduler.analysis.forecast.submission import forecast_submission, read_submission
from scheduler.analysis.forecast.world import forecast
from scheduler.cli.files import add_stack_word
from scheduler.cli.run import read_sources, world_at
from scheduler.cli.statuses import refused
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.errors import SchedulerError


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a scenario up to an instant and forecast from there; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        world = world_at(options.paths, options.at, options.stack)
        found = _forecast(world, options)
    except (SchedulerError, OSError) as error:
        return refused(error)
    out.write(_json(found) if options.json else _text(found))
    return 0


def _forecast(world: World, options: argparse.Namespace) -> Forecast:
    given: Any = {
        "futures": options.futures,
        "seed": options.seed,
        "horizon_ms": durations.span_ms(options.horizon),
        "continued": options.arrivals == "continued",
    }
    if options.submit is None:
        return forecast(world, **given)
    objects = read_submission(world, read_sources([options.submit]))
    return forecast_submission(world, objects, queues=options.queues, **given)


def _text(found: Forecast) -> str:
    if isinstance(found, SubmissionForecast):
        return submission_text_of(found)
    return text_of(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler forecast",
        description="Run a scenario up to an instant, then many futures of it with run "
        "times like those that finished, and say when each waiting workload starts, or one "
        "would that is not submitted yet.",
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument(
        "--submit",
        type=Path,
        metavar="FILE",
        help="of a manifest that is not submitted yet",
    )
    parser.add_argument(
        "--queues",
        nargs="+",
        default=[],
        help="with --submit: LocalQueues to try, NAME or NAMESPACE/NAME, or all",
    )
    parser.add_argument("--at", default="5m", help="the instant; 5m")
    parser.add_argument("--horizon", default="1h", help="how far a future goes; 1h")
    parser.add_argument("--futures", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--arrivals",
        choices=("known", "continued"),
        default="known",
        help="those that the scenario names, or beyond them as they came; known",
    )
    parser.add_argument("--json", action="store_true")
    add_stack_word(parser)
    return parser


def _json(found: Forecast) -> str:
    return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
