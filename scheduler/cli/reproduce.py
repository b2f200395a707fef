"""`python -m scheduler reproduce`: files to the smallest ones that still show a decision."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

import msgspec

from scheduler.analysis.expectations import matches
from scheduler.analysis.reproduction import (
    Hear,
    Reproduction,
    match_of,
    reproduce,
    start_of_files,
    start_of_world,
)
from scheduler.assembly import Sources
from scheduler.cli.files import add_stack_word
from scheduler.cli.run import assemble_as, read_sources
from scheduler.cli.statuses import refused
from scheduler.engine.tick import run_tick, simulate
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.scenario import Match


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print a List that loads and runs; 1 when nothing shows it, 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    wanted = Match(
        type=options.type, subject=options.subject, by=options.by, reason=options.reason
    )
    try:
        sources = read_sources(options.paths)
        until_ms = durations.span_ms(options.until)
        found = smallest(
            sources, wanted, until_ms=until_ms, hear=_hear(), stack=options.stack
        )
    except (SchedulerError, OSError) as error:
        return refused(error)
    if not found.found:
        sys.stderr.write(f"{found.decision}: not shown within {options.until}\n")
        return 1
    minimal = "nothing can be left out" if found.minimal else "stopped early"
    sys.stderr.write(f"\n{found.before} objects to {found.after}, {minimal}\n")
    body = {"apiVersion": "v1", "kind": "List", "items": found.documents}
    out.write(msgspec.json.format(msgspec.json.encode(body)).decode() + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler reproduce",
        description="Find the smallest world that still takes a decision.",
        epilog="example: python -m scheduler reproduce sandbox/scenarios/friday-rush "
        "Preempt > smallest.json; python -m scheduler run smallest.json",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("type", help="Preempt, Admit, Wait, Bind, Fail, ...")
    parser.add_argument("--subject", default="", help="e.g. Workload/default/job-a")
    parser.add_argument("--by", default="", help="who caused it, e.g. the preemptor")
    parser.add_argument("--reason", default="")
    parser.add_argument("--until", default="10m", help="look for it until then (10m)")
    add_stack_word(parser)
    return parser


def _hear() -> Hear:
    shown = sys.stderr.isatty()

    def hear(runs: int, left: int) -> None:
        if shown:
            sys.stderr.write(f"\r{runs} runs, {left} objects\033[K")

    return hear


def smallest(
    sources: Sources,
    wanted: Match,
    *,
    until_ms: int,
    hear: Hear,
    stack: str | None = None,
) -> Reproduction:
    """Return the smallest world of the first decision that says what is wanted.

    From the world just before it, or from the files when that does not show it.
    """
    made = partial(assemble_as, sources, stack)
    outcome = simulate(
        made().world, until_ms=until_ms, stop=lambda d: matches(wanted, d)
    )
    first = [decision for decision in outcome.decisions if matches(wanted, decision)]
    if not first:
        return Reproduction(found=False, decision=wanted.type)
    before = made().world
    tick_ms = before.policy.spec.simulation.tick_ms
    while before.context.now_ms + tick_ms <= first[0].at_ms:
        run_tick(before)
    starts = [
        start_of_world(before, first[0].at_ms),
        start_of_files(made(), first[0].at_ms),
    ]
    return reproduce(starts, match_of(first[0]), hear=hear)
