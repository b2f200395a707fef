"""`python -m scheduler plan`: what another release would do to the same work."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.analysis.upgrade import (
    MOST_SEARCHED,
    RuleEffect,
    Run,
    Trial,
    UntoldChange,
    UpgradeReport,
    compare_releases,
    smallest,
)
from scheduler.assembly import prepare
from scheduler.cli.files import add_stack_word, release_of
from scheduler.cli.plan_input import (
    MOST_WORKERS,
    Library,
    horizon_in,
    in_range,
    no_library,
    read_work,
)
from scheduler.cli.run_time_words import add_trace_words, options_of
from scheduler.cli.statuses import refused
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.releases.release import TITLES
from scheduler.model.texts.plain_text import printable

_HORIZON_MS = 24 * 3_600_000
_SHOWN = 10


def main(
    arguments: Sequence[str],
    out: TextIO | None = None,
    *,
    library: Library = no_library,
    prog: str = "python -m scheduler plan",
) -> int:
    """Compare two releases on the same work; 0 done, 2 for input that is not taken.

    1 where `--fail-on` names what was found.

    `library` finds scenarios by name.
    """
    out = out or sys.stdout
    options = _parser(prog).parse_args(arguments)
    try:
        report = _report(options, library)
    except (SchedulerError, OSError) as error:
        return refused(error)
    if options.smallest:
        _write(options.smallest, report)
    if options.json:
        out.write(msgspec.json.format(msgspec.json.encode(report)).decode() + "\n")
    else:
        out.writelines(f"{line}\n" for line in _lines(report))
    failed = report.differs if options.fail_on == "differs" else report.may_differ
    return int(bool(options.fail_on) and failed)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run the same work as two releases decide on it, and say who starts "
        "otherwise, which reasons are said otherwise, and which rule does it. "
        "docs/releases.md lists all changes.",
    )
    add = parser.add_argument
    for name, what in (("release", "that runs"), ("against", "that would run")):
        add(f"--{name}", action="append", required=True, metavar="kueue=0.19.2",
            help=f"the release {what}, of kueue, kubernetes or yunikorn; may be given "
            "for each")  # fmt: skip
    add("--on", required=True, metavar="WORK", help="a recording (folder or .qrec), a "
        "scenario (name or folder), a folder or file of YAML, or a trace")  # fmt: skip
    add("--at", default="0s", help="of a recording: the instant to begin at (0s)")
    add("--horizon", default="", help="how long each run is, e.g. 24h; the scenario's, "
        "else 24h or until nothing more happens")  # fmt: skip
    add("--smallest", type=Path, metavar="FOLDER", help="search for the smallest work in "
        "which each rule still does something, and write it here")  # fmt: skip
    add("--workers", type=int, default=0, help="processes (one for each CPU)")
    add("--fail-on", choices=("differs", "could"), default="", help="exit with 1 where "
        "something differs, or could by a change that runs do not tell apart")  # fmt: skip
    add("--json", action="store_true", help="print one JSON object instead")
    add_trace_words(parser)
    add_stack_word(parser)
    return parser


def _report(options: argparse.Namespace, library: Library) -> UpgradeReport:
    given_ms = horizon_in(options.horizon)
    workers = in_range("--workers", options.workers, MOST_WORKERS)
    before, after = release_of(options.release), release_of(options.against)
    sources = read_work(options.on, options.at, library)
    prepared = prepare(sources, traces=options_of(options), stack=options.stack)
    scenario = prepared.scenario
    usual_ms = durations.span_ms(scenario.spec.horizon) if scenario else _HORIZON_MS
    until_ms = given_ms or usual_ms
    fixed = {"stack": options.stack} if options.stack else {}

    def make(patch: Mapping[str, Any]) -> World:
        return prepared.assemble(policy={**fixed, **patch}, newest=False).world

    each = partial(_each, workers or os.cpu_count() or 1)
    report = compare_releases(make, before, after, until_ms=until_ms, each=each)
    if not options.smallest:  # it costs many runs
        return report
    releases = report.before, report.after
    effects = [
        msgspec.structs.replace(
            effect, smallest=smallest(prepared, effect, releases, until_ms, fixed=fixed)
        )
        for effect in report.rules
    ]
    return msgspec.structs.replace(report, rules=effects)


def _each(
    workers: int, run: Callable[[Trial], Run], trials: Sequence[Trial]
) -> list[Run]:
    """Do these runs in as many processes, where processes can be forked.

    What has been read is there in each of them and is not sent.
    """
    workers = min(workers, len(trials))
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return list(map(run, trials))
    _work[:] = [run]
    forking = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=forking) as pool:
        return list(pool.map(_one, trials))


_work: list[Callable[[Trial], Run]] = []  # of this process and those that it forks


def _one(trial: Trial) -> Run:
    return _work[0](trial)


def _write(folder: Path, report: UpgradeReport) -> None:
    for effect in report.rules:
        if effect.smallest is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{effect.rule}.yaml"
            path.write_text(effect.smallest.text, encoding="utf-8")
        elif effect.workloads or effect.reasons:
            sys.stderr.write(
                f"--smallest: none was found for rule {effect.rule}; work of more than "
                f"{MOST_SEARCHED} objects is not searched\n"
            )


def _lines(report: UpgradeReport) -> Iterator[str]:
    yield f"{_named(report.before)} against {_named(report.after)}"
    if not report.may_differ:
        yield "nothing differs"
    elif not report.differs:
        yield "nothing differs in what is followed"
    for name in ("earlier", "later", "never", "only"):
        subjects = getattr(report, name)
        if subjects:
            yield f"{_START[name]}: {_some(subjects)}"
    totals = report.verdict.without, report.verdict.changed
    for what in ("preemptions", "evictions", "finished"):
        one, other = (getattr(each, what) for each in totals)
        if one != other:
            yield f"{what}: {one}, then {other}"
    if report.said_otherwise:
        yield f"other reasons: {_some(report.said_otherwise)}"
        for reason, (one, other) in report.reasons.items():
            yield f"  {reason}: {one}, then {other}"
    idle = [one.rule for one in report.rules if _does_nothing(one)]
    yield from (_rule(one) for one in report.rules if one.rule not in idle)
    if idle:
        yield f"followed, and change nothing here: {', '.join(idle)}"
    if report.unexplained:
        yield f"by no rule alone: {_some(report.unexplained)}"
    yield from (_untold("could differ, not followed", one) for one in report.could)
    yield from (_untold("not examined", one) for one in report.unknown)
    rest = report.others
    yield (
        f"other changes between the two: {rest.unconcerned} do not concern this work, "
        f"{rest.shown} change statuses, messages, answers or metrics alone, "
        f"{rest.disturbed} need an edit, a restart or chance"
    )


_START = {
    "earlier": "start earlier",
    "later": "start later",
    "never": "start no more",
    "only": "start only then",
}


def _named(release: Mapping[str, str]) -> str:
    titles: dict[str, str] = {str(name): title for name, title in TITLES.items()}
    return ", ".join(f"{titles[name]} {version}" for name, version in release.items())


def _does_nothing(effect: RuleEffect) -> bool:
    """Return whether a rule was tried alone, and all comes out as with it."""
    return effect.workloads == [] and not effect.reasons


def _rule(effect: RuleEffect) -> str:
    head = f"rule {effect.rule}: {effect.now}; before, {effect.before}"
    if effect.workloads is None:
        return f"{head}. Its gate is locked, so what it does here is not known"
    parts = []
    if effect.workloads:
        parts.append(f"moves {_some(effect.workloads)}")
    if effect.reasons:
        parts.append(f"gives {effect.reasons} other reasons")
    done = " and ".join(parts)
    back = ""
    if effect.gate:
        back = f"; {effect.gate}={'true' if effect.given else 'false'} turns it back"
    least = ""
    if (found := effect.smallest) is not None:
        least = f"; {found.objects} of {found.before} objects show it"
    return f"{head}. It {done}{back}{least}"


def _untold(what: str, change: UntoldChange) -> str:
    concerns = ""
    if change.count:
        more = change.count - len(change.objects)
        names = ", ".join(map(printable, change.objects))
        concerns = f" Concerns {names}{f' and {more} more' if more else ''}"
    told = f"{change.rule}: {change.now}; before, {change.before}."
    return f"{what}: {told}{concerns}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:_SHOWN]))
    more = len(names) - _SHOWN
    return f"{len(names)}: {shown}{f' and {more} more' if more > 0 else ''}"
