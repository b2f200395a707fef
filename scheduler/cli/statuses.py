"""How a command ends: its exit status, and what is said of it.

0 good, 1 an assertion failed or what was asked for does not exist, 2 the input is
refused, 3 a fault of the program.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import Report, report_of
from scheduler.model.errors import InvariantError, NoProgressError

# ------------------------------------------------------------------------
# How a command ends: its exit status, and what is said of it.


GOOD, FAILED, REFUSED, OURS = 0, 1, 2, 3
INTERRUPTED = 128 + signal.SIGINT
NOBODY_READS = 128 + signal.SIGPIPE
_REPORT = (
    "This is a fault of the program, not of the input. Please report it to the "
    "maintainers, with the command, the files and the lines above.\n"
)


def ended(work: Callable[[], int]) -> int:
    """Return the status that `work` returns, or that of how it failed.

    Flushes what was written: a reader that went away (`| head`) is noticed here.
    """
    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        sys.stderr.write(_REPORT)
        return OURS
    return status


def refused(error: Exception) -> int:
    """Print why a command ends and return its exit status.

    Raises BrokenPipeError again, which is no fault.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    sys.stderr.write(f"{error}\n")
    if isinstance(error, InvariantError | NoProgressError):
        sys.stderr.write(_REPORT)
        return OURS
    return REFUSED


def try_to_write(paths: Iterable[Path | None]) -> None:
    """Raise OSError for the first file that cannot be written; change none of them."""
    for path in paths:
        if path is None:
            continue
        there = path.exists()
        with path.open("ab"):
            pass
        if not there:
            path.unlink()


# ------------------------------------------------------------------------
# `python -m scheduler outcomes`: what each file of some folders gives, as a table.


_ENDINGS = (".yaml", ".yml", ".json")
_HEAD = "| file | simulated | configuration | kept | refused | what is said |\n"
_RULE = "| --- | --- | --- | --- | --- | --- |\n"


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print a table in Markdown, a row per file; 2 when there is none."""
    out = out or sys.stdout
    parser = argparse.ArgumentParser(
        prog="python -m scheduler outcomes",
        description="Read every manifest below some folders, each file by itself, "
        "and print what came of it as a table in Markdown.",
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    folders = parser.parse_args(arguments).folders
    rows = [row for folder in folders for row in _rows(folder)]
    if not rows:
        sys.stderr.write(f"expected files named *{', *'.join(_ENDINGS)}, found none\n")
        return 2
    out.write(_HEAD + _RULE + "".join(rows))
    return 0


def _rows(folder: Path) -> Iterator[str]:
    for path in sorted(p for p in folder.rglob("*") if p.suffix in _ENDINGS):
        name = f"{folder.name}/{path.relative_to(folder)}"
        yield _row(report_of(load([(name, path.read_text(encoding="utf-8"))])))


def _row(report: Report) -> str:
    (file,) = report.files
    counts = [file.simulated, file.configuration, file.kept, file.refused]
    said = "; ".join(f"{one.level}: {one.problem}" for one in report.findings)
    cells = [f"`{file.file}`", *map(str, counts), said.replace("|", "\\|")]
    return f"| {' | '.join(cells)} |\n"
