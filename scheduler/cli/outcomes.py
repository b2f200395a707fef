"""`python -m scheduler outcomes`: what each file of some folders gives, as a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import Report, report_of

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
