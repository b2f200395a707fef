"""The one writer of CSV: what is exported reads the same whichever answer it comes from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

#: A text that begins with one of these is a formula to some spreadsheet.
RISKY = frozenset("=+-@\t\r\n＝＋－＠")


def write(rows: Iterable[Sequence[Any]]) -> str:
    """Return the rows as CSV, a line each.

    A text that a spreadsheet would run gets an apostrophe before it, in the head too;
    numbers are left as they are. O(cells).
    """
    out = io.StringIO()
    writer = csv.writer(out)  # ends lines by CR LF, and so quotes either in a cell
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    risky = isinstance(value, str) and value[:1] in RISKY
    return f"'{value}" if risky else value
