"""Rows of a CSV with the lines where they stand."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_LARGEST = 1e18
_MARKS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line where it ends, and its values by column."""

    line: int
    values: dict[str, str]
    extra: bool = False  # it has another number of values than there are columns


def first_line(text: str) -> list[str]:
    """Return the values of the first line that holds any."""
    for values in _reader(text):
        if any(values):
            return [value.strip().lower() for value in values]
    return []


def rows_of(text: str, columns: list[str] | None = None) -> Iterator[Row]:
    """Yield the rows below the first line, or, with `columns` given, all of them.

    Names of columns are in small letters, values without spaces around them.
    """
    lines = _reader(text)
    names = columns
    for values in lines:
        if not any(value.strip() for value in values):
            continue
        if names is None:
            names = [value.strip().lower() for value in values]
            continue
        pairs = zip(names, (value.strip() for value in values), strict=False)
        yield Row(lines.line_num, dict(pairs), extra=len(values) != len(names))


def number(text: str) -> float | None:
    """Return a finite number; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < _LARGEST else None


def _reader(text: str) -> Any:
    """Return the values line by line; they stand between the marks of the first."""
    lines = text.lstrip("\ufeff").replace("\0", "").splitlines(keepends=True)
    first = next((line for line in lines if line.strip()), "")
    mark = max(_MARKS, key=first.count)
    return csv.reader(lines, delimiter=mark)
