"""`python -m scheduler fit`: the load of a trace as a Load to be run with other queues."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from scheduler.analysis.load_fit import fit_load, said_of_fit
from scheduler.cli.files import read_one
from scheduler.cli.statuses import refused
from scheduler.input.traces import formats
from scheduler.input.traces.options import NO_OPTIONS, Trace
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.plain_text import write


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print the Load, and on stderr what it leaves out or assumes; 2 on bad input."""
    out = out or sys.stdout
    parser = argparse.ArgumentParser(
        prog="python -m scheduler fit",
        description="Print what arrives in a trace as processes: classes of jobs by "
        "queue and size, each with its hours, days, bursts and run times.",
    )
    parser.add_argument("file", type=Path, metavar="TRACE")
    parser.add_argument("--queue", default="", help="LocalQueue of all (its own)")
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--weeks", type=float, default=1.0, help="how long (1)")
    words = parser.parse_args(arguments)
    if not words.weeks > 0:
        parser.error(f"--weeks: expected more than 0, got {words.weeks:g}")
    try:
        trace = read_trace(words.file)
        found = fit_load(
            trace, queue=words.queue, namespace=words.namespace, weeks=words.weeks
        )
    except (SchedulerError, OSError) as error:
        return refused(error)
    sys.stderr.writelines(f"note: {one}\n" for one in said_of_fit(trace))
    out.write(write(found))
    return 0


def read_trace(path: Path | str) -> Trace:
    """Return the trace of one file, packed or not. Raises SchedulerError."""
    name, text = read_one(path)
    if formats.find(name, text) is None:
        raise SchedulerError(f"{path}: expected a trace, such as log.swf or jobs.csv")
    return formats.read(text, name, NO_OPTIONS)
