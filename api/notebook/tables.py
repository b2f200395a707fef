"""Rows that a notebook shows as a table."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

#: Rows that are shown; `frame()` has all.
_SHOWN = 30


def extra(module: str) -> Any:
    """Return a library of the extra `notebook`. Raises ImportError that names it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        said = f"{name} is not installed; install it with: pip install 'quotalab[notebook]'"
        raise ImportError(said) from error


class Table(list[dict[str, Any]]):
    """Rows with the same columns."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(dict(row) for row in rows)

    @property
    def columns(self) -> list[str]:
        """Return the columns, in the order of the rows."""
        return list(dict.fromkeys(name for row in self for name in row))

    def frame(self) -> Any:
        """Return a pandas DataFrame. Raises ImportError without pandas."""
        return extra("pandas").DataFrame(list(self), columns=self.columns)

    def _repr_html_(self) -> str:
        names = self.columns
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(row.get(n))}</td>" for n in names) + "</tr>"
            for row in self[:_SHOWN]
        )
        more = len(self) - _SHOWN
        rest = f"<p>and {more} more; frame() has all</p>" if more > 0 else ""
        return f"<table><tr>{head}</tr>{body}</table>{rest}"


def _cell(value: Any) -> str:
    return "" if value is None else escape(str(value))
