"""`python -m scheduler shadow`: real decisions beside what the engine decides."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from scheduler import durations
from scheduler.cli.recording_file import history_of, read_file, settings_of
from scheduler.cli.recording_folder import read_history, read_settings, read_start
from scheduler.errors import SchedulerError
from scheduler.shadow.compare import Judge, Shadow, Verdict


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Hold a recording's decisions against ours; print one closing line.

    Exit codes: 0, or 2 on bad input.
    """
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        found = judge(options.recording)
    except (SchedulerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
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


def judge(recording: Path) -> Shadow:
    """Return the verdicts on a recording. Raises SchedulerError, OSError."""
    if recording.is_file():
        found = read_file(recording)
        return Judge(history_of(found), settings_of(found), found.start_us).judge()
    return judge_folder(recording)


def judge_folder(folder: Path) -> Shadow:
    """Return the verdicts on a recording's folder. Raises SchedulerError, OSError."""
    start_us = durations.stamp_us(read_start(folder))
    return Judge(read_history(folder), read_settings(folder), start_us).judge()


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
