"""`python -m scheduler run`: a scenario or manifests from files, to the screen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.analysis.beside import Side, run_beside
from scheduler.analysis.conversion.unsimulated import as_release
from scheduler.analysis.expectations import Verdict, judge
from scheduler.analysis.measures import Measures, Summary
from scheduler.assembly import Assembled, Sources, StackOpenError, assemble
from scheduler.cli.files import add_release_word, add_stack_word, read_paths, release_of
from scheduler.cli.run_time_words import (
    add_run_time_words,
    add_trace_words,
    options_of,
    run_time_choice,
)
from scheduler.cli.statuses import refused, try_to_write
from scheduler.engine.lifetime.jobs.state import FAILED_CREATE
from scheduler.engine.tick import SimulationResult, advance, simulate
from scheduler.engine.world import World
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    RunTimeChoice,
    take_chosen_run_times,
)
from scheduler.input.manifests.report import FindingGroup, groups_of, unfollowed_fields
from scheduler.input.manifests.run_times import assumed_run_times
from scheduler.model import durations
from scheduler.model.decisions import Decision, Fail
from scheduler.model.errors import SchedulerError
from scheduler.model.releases.release import NO_RELEASE
from scheduler.model.scenario import FALLBACK, Scenario
from scheduler.model.texts.plain_text import printable
from scheduler.recorded.twin.played import recording_of

_DEFAULT_HORIZON = "24h"


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run files and print what was decided; 1 when an expectation failed, 2 on
    bad input.
    """
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        try_to_write([options.record])
        assembled = assemble_as(
            read_sources(options.paths),
            options.stack,
            seed=options.seed,
            traces=options_of(options),
            skip_errors=options.skip_errors,
            run_times=run_time_choice(options),
            release=release_of(options.release),
        )
        if options.record:
            return _record(out, assembled, _until(options, assembled), options.record)
        # Before the run, which ends the work and so the need for its time.
        span = assembled.world.policy.spec.simulation.default_runtime
        assembled.loaded.findings += assumed_run_times(assembled.loaded, span)
        sides = _sides(assembled)
        measures = Measures(assembled.world)
        outcome = simulate(
            assembled.world, until_ms=_until(options, assembled), hear=measures.observe
        )
    except (SchedulerError, OSError) as error:
        return refused(error)
    verdicts = judge(assembled.scenario, outcome.decisions)
    lives = measures.lives()
    summary = measures.summary(lives=lives)
    if options.json:
        _json(out, assembled, outcome, summary, verdicts)
    else:
        failed = sum(one.ended == "failed" for one in lives.units.values())
        _table(out, assembled, outcome, summary, verdicts, failed=failed)
    if sides and not options.json:
        out.writelines(_beside(sides))
    verdicts += [verdict for side in sides for verdict in side.verdicts]
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _sides(assembled: Assembled) -> list[Side]:
    """Return what the stops of a lesson run beside it, each run to its end."""
    if assembled.scenario is None:
        return []
    return list(run_beside(assembled.world, assembled.scenario.spec))


def _beside(sides: Sequence[Side]) -> Iterator[str]:
    """Yield what each side decides differently, as its expectations say it."""
    for side in sides:
        title = side.beside.title[FALLBACK]
        yield f"\nbeside, from {side.stop.at} on: {printable(title)}\n"
        for verdict in side.verdicts:
            yield f"{'ok  ' if verdict.holds else 'FAIL'} {verdict.text}\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler run",
        description="Run a scenario folder or plain manifests in virtual time.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--until", default="", help="how far, e.g. 10m")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write what a recorder would have seen (a .qrec) in place of decisions",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--skip-errors", action="store_true", help="leave out what cannot be taken"
    )
    add_run_time_words(parser)
    add_stack_word(parser)
    add_release_word(parser)
    add_trace_words(parser)
    return parser


def assemble_as(
    sources: Sources,
    stack: str | None,
    *,
    run_times: RunTimeChoice = NO_CHOICE,
    release: Mapping[str, str] | None = None,
    **given: Any,
) -> Assembled:
    """Return the world of files under a stack, or the one that they are for.

    `run_times` says how long work takes that nobody gave a run time;
    `release` is whose decisions are taken, by scheduler. Raises as `assemble` does; where the stack is open, the error names the option.
    """
    policy: dict[str, Any] = {"stack": stack} if stack else {}
    if release:
        policy["release"] = dict(release)
    change = partial(take_chosen_run_times, choice=run_times)
    try:
        return assemble(sources, policy=policy or None, change=change, **given)
    except StackOpenError as error:
        raise SchedulerError(f"{error}; give --stack") from error


def read_sources(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Return (name, text) of the files; names begin below the folder that is given.

    Raises SchedulerError for a path that does not exist or not text.
    """
    return read_paths(paths, short=True)


def world_at(paths: Sequence[Path], instant: str, stack: str | None = None) -> World:
    """Return the world of files, run up to an instant such as 2m30s.

    `stack` as `assemble_as` takes it.

    Raises SchedulerError, OSError.
    """
    world = assemble_as(read_sources(paths), stack).world
    advance(world, durations.span_ms(instant))
    return world


def _until(options: argparse.Namespace, assembled: Assembled) -> int:
    if options.until:
        return durations.span_ms(options.until)
    scenario: Scenario | None = assembled.scenario
    horizon = scenario.spec.horizon if scenario is not None else _DEFAULT_HORIZON
    return durations.span_ms(horizon)


def _record(out: TextIO, assembled: Assembled, until_ms: int, file: Path) -> int:
    file.write_bytes(recording_of(assembled.world, until_ms))
    end = assembled.world.context.now_ms / 1000
    out.write(f"{file}: what was to be seen of it, to {end:.0f} s\n")
    return 0


def _json(
    out: TextIO,
    assembled: Assembled,
    outcome: SimulationResult,
    summary: Summary,
    verdicts: list[Verdict],
) -> None:
    decides_as = assembled.world.policy.spec.decides_as()
    proposal = assembled.world.policy.spec.proposed()
    body = {
        **({"proposal": proposal} if proposal is not None else {}),
        **({"release": dict(decides_as.given())} if decides_as != NO_RELEASE else {}),
        "endMs": outcome.end_ms,
        "settled": outcome.settled,
        "hash": assembled.world.hash(),
        "summary": summary,
        "findings": [str(finding) for finding in assembled.loaded.findings],
        "expectations": verdicts,
        "decisions": [_plain(decision) for decision in outcome.decisions],
    }
    out.write(msgspec.json.format(msgspec.json.encode(body)).decode() + "\n")


def _plain(decision: Decision) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(decision)
    plain.pop("said", None)  # the message is for people who read English
    plain["type"] = type(decision).__name__
    plain["subject"] = str(decision.subject)
    plain["by"] = str(decision.by) if decision.by is not None else None
    return plain


def _table(
    out: TextIO,
    assembled: Assembled,
    outcome: SimulationResult,
    summary: Summary,
    verdicts: list[Verdict],
    *,
    failed: int,
) -> None:
    out.writelines(f"{said}\n" for said in as_release(assembled.world))
    out.writelines(
        f"{group.level}: {printable(_found(group))}\n"
        for group in groups_of(assembled.loaded.findings)
    )
    out.writelines(
        f"not followed: {one.place}: {kind}, {one.count} times: {one.effect}\n"
        for kind, one in unfollowed_fields(assembled.loaded)
    )
    out.writelines(_line(decision) + "\n" for decision in outcome.decisions)
    out.write(_closing(outcome, summary, failed))
    out.writelines(
        f"{'ok  ' if verdict.holds else 'FAIL'} {verdict.text}\n"
        for verdict in verdicts
    )


def _found(group: FindingGroup) -> str:
    """Return a sort of finding with its first place, and how many more there are."""
    more = f" ({group.count} times)" if group.count > 1 else ""
    return f"{group.places[0]}: {group.problem}{more}"


def _line(decision: Decision) -> str:
    time = f"{decision.at_ms / 1000:10.3f}s"
    by = f" by {decision.by.path}" if decision.by is not None else ""
    why = f"  {printable(decision.reason)}" if decision.reason else ""
    what = type(decision).__name__
    return f"{time}  {what:<10} {decision.subject}{by}{why}"


def _never(summary: Summary) -> str:
    """Return how many of the waits are lower bounds: they have not ended."""
    if not summary.waiting:
        return ""
    return f" at least ({summary.waiting} never started)"


def _withheld(outcome: SimulationResult) -> str:
    """Return how many owners had pods that were refused when they were made; "" for none."""
    failed = (one for one in outcome.decisions if isinstance(one, Fail))
    owners = {one.subject for one in failed if one.reason == FAILED_CREATE}
    return f", pods of {len(owners)} refused ({FAILED_CREATE})" if owners else ""


def _closing(outcome: SimulationResult, summary: Summary, failed: int) -> str:
    """Return the last line; `failed` are of those that finished."""
    wait = "-" if summary.wait_p50_ms is None else f"{summary.wait_p50_ms / 1000:.1f}s"
    return (
        f"\n{summary.arrived} arrived, {summary.admitted} admitted, "
        f"{summary.finished} finished{f' ({failed} failed)' if failed else ''}, "
        f"{summary.preemptions} preempted{_withheld(outcome)}, "
        f"median wait {wait}{_never(summary)}, end {outcome.end_ms / 1000:.1f}s"
        f"{'' if outcome.settled else ' (more would happen)'}\n{_searches(summary)}"
    )


def _searches(summary: Summary) -> str:
    """Return what Kueue's searches for victims cost; "" where it made none."""
    if not summary.searches:
        return ""
    return (
        f"searches for victims {summary.searches}, candidates looked at "
        f"{summary.candidates_looked_at}, simulations {summary.simulations}\n"
    )
