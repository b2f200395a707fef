"""What came of a verb, for people or as JSON; bars for what takes long."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.model.texts.plain_text import printable

WIDTH = 30


@dataclass(slots=True, kw_only=True)
class Found:
    """An answer: rows for a table, a text as it is, or a document."""

    rows: Sequence[Any] | None = None
    columns: Sequence[str] = ()
    text: str | None = None
    document: Any = None
    line: str = ""  # for people, instead of the document
    status: int = 0
    notes: list[str] = field(
        default_factory=list
    )  # on stderr; a document in JSON has them itself


def show(found: Found, *, as_json: bool) -> None:
    """Print what a command found; nothing where the command has printed already."""
    if found.rows is None and found.text is None and found.document is None:
        return
    if found.rows is not None or not as_json:
        for note in found.notes:
            print(note, file=sys.stderr)
    if as_json:
        value: Any = found.rows if found.rows is not None else found.document
        print(json.dumps(found.text if value is None else value, ensure_ascii=False))
        return
    if found.rows is not None:
        _table(found.rows, found.columns)
    elif found.text is not None:
        print(found.text, end="" if found.text.endswith("\n") else "\n")
    elif found.line:
        print(printable(found.line))
    elif found.document is not None:
        print(json.dumps(found.document, indent=2, ensure_ascii=False))


def _table(rows: Sequence[Any], columns: Sequence[str]) -> None:
    lines = [[name.upper() for name in columns]]
    lines += [[_cell(row.get(name)) for name in columns] for row in rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        cells = [cell.ljust(w) for cell, w in zip(line, widths, strict=True)]
        print("  ".join(cells).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else printable(str(value))


class Bar:
    """A bar on stderr, where somebody looks at one."""

    def __init__(self, *, quiet: bool) -> None:
        self.shown = sys.stderr.isatty() and not quiet
        self.drawn = False

    def at(self, done: int, of: int, words: str = "") -> None:
        """Draw the bar at `done` of `of`."""
        if not self.shown:
            return
        filled = WIDTH * min(done, of) // max(of, 1)
        bar = "█" * filled + "·" * (WIDTH - filled)
        print(f"\r{bar} {done}/{of} {words}\033[K", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def end(self) -> None:
        """End the line of the bar."""
        if self.drawn:
            print(file=sys.stderr)
