"""`python -m scheduler shadow`: real decisions beside what the engine decides."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler import durations
from scheduler.cli.rerun import START, text_of
from scheduler.errors import SchedulerError
from scheduler.kueue.configuration import Settings, read_configuration
from scheduler.manifests.documents import read_documents
from scheduler.shadow.compare import Judge, Shadow, Verdict
from scheduler.shadow.history import History

_US_PER_MS = 1000


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Hold a recording's decisions against ours; print one closing line.

    Exit codes: 0, or 2 on bad input.
    """
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        found = judge_folder(options.folder)
    except (SchedulerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for verdict in found.verdicts:
        if options.details and not verdict.agrees:
            out.write(f"{_line(verdict)}\n")
    out.write(f"{found}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler shadow",
        description="Hold each admission and preemption of a recording against what "
        "the engine decides from the state just before it.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--details", action="store_true", help="print each decision that differs"
    )
    return parser


def judge_folder(folder: Path) -> Shadow:
    """Return the verdicts on a recording. Raises SchedulerError, OSError."""
    start = START.search(text_of(folder / "README.md"))
    if start is None:
        raise SchedulerError(f"{folder}/README.md: expected t=0 (TIME), found none")
    start_us = durations.stamp_us(start[1])
    with gzip.open(folder / "snapshot-0.json.gz") as standing:
        items = msgspec.json.decode(standing.read())["items"]
    history = History(items, _events(folder / "watch.jsonl.gz", start_us))
    return Judge(history, _settings(folder), start_us).judge()


def _events(path: Path, start_us: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield (ms since t=0, type, object); raises SchedulerError with file and line."""
    with gzip.open(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                event = msgspec.json.decode(line)
                at = durations.stamp_us(event["at"])
            except (msgspec.MsgspecError, KeyError, TypeError) as error:
                raise SchedulerError(
                    f"{path}:{number}: expected a watch event with at, type and "
                    f"object: {error}"
                ) from error
            yield (at - start_us) // _US_PER_MS, event["type"], event["object"]


def _settings(folder: Path) -> Settings:
    """Return what the recording's Configuration sets; the defaults without one."""
    path = folder / "config.yaml"
    if not path.is_file():
        return Settings()
    [document] = read_documents(text_of(path), file=path.name)
    return read_configuration(document.data)


def _line(verdict: Verdict) -> str:
    real = verdict.real
    return (
        f"{real.at_ms / 1000:.3f} s: {real.kind} of {real.subject.path}: "
        f"{verdict.difference}"
    )
