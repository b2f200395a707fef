"""`python -m scheduler shadow`: real decisions beside what the engine decides."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from scheduler.cli.recording_file import history_of, read_file, settings_of
from scheduler.cli.recording_folder import read_followed_folder
from scheduler.cli.statuses import refused
from scheduler.model.errors import SchedulerError
from scheduler.recorded.absences import SHADOW, notes_on
from scheduler.recorded.followed import configuration
from scheduler.recorded.shadow.compare import Judge, Shadow, Verdict
from scheduler.recorded.shadow.decisions import KINDS


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Hold a recording's decisions against ours; print one closing line.

    Exit codes: 0, or 2 on bad input.
    """
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        found, notes = judge(options.recording)
    except (SchedulerError, OSError) as error:
        return refused(error)
    sys.stderr.writelines(f"{note}\n" for note in notes)
    if options.details:
        out.writelines(f"{line}\n" for line in _details(found))
    out.write(f"{found}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler shadow",
        description="Hold each admission and preemption of a recording against what "
        "the engine decides from the state just before it.",
    )
    parser.add_argument(
        "recording",
        type=Path,
        metavar="FOLDER|FILE",
        help="a recording's folder, a .qrec file, or what `kubectl get workloads,...` "
        "printed with --watch --output-watch-events -o json",
    )
    parser.add_argument(
        "--details",
        action="store_true",
        help="print each decision that differs, and how many agree on which reading "
        "of the state",
    )
    return parser


def judge(recording: Path) -> tuple[Shadow, list[str]]:
    """Return the verdicts on a recording, and what it leaves out.

    Raises SchedulerError, also where it shows no decision, and OSError.
    """
    if recording.is_file():
        found = read_file(recording)
        configured = configuration(found)
    else:
        found, configured = read_followed_folder(recording)
    settings = settings_of(configured, found.releases())
    given = settings if configured else None
    notes = notes_on(found, given, SHADOW, str(recording), KINDS)
    judging = Judge(history_of(found), settings, found.start_us)
    if not judging.real:
        expected = "expected admissions or preemptions of Workloads, found none"
        raise SchedulerError("\n".join([*notes, f"{recording}: {expected}"]))
    return judging.judge(), notes


def _details(found: Shadow) -> Iterator[str]:
    """Yield a line per decision that differs, then one per reading that agrees."""
    yield from (_line(verdict) for verdict in found.verdicts if not verdict.agrees)
    for reading, count in found.readings().most_common():
        yield f"{count} agree on {reading}"


def _line(verdict: Verdict) -> str:
    real = verdict.real
    return (
        f"{real.at_ms / 1000:.3f} s: {real.kind} of {real.subject.path}: "
        f"{verdict.difference}"
    )
