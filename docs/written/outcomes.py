"""What each manifest below some folders gives, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import Report, report_of

_ENDINGS = (".yaml", ".yml", ".json")
_HEAD = "| file | simulated | configuration | kept | refused | what is said |\n"
_RULE = "| --- | --- | --- | --- | --- | --- |\n"


def table(folders: Sequence[Path]) -> str:
    """Return a table in Markdown, a row per file."""
    return _HEAD + _RULE + "".join(row for one in folders for row in _rows(one))


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
