"""What a change would do: both sides run to the same horizon."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

#: What the sums are called where people read them.
_WORDS = {
    "earlier": "start earlier",
    "later": "start later",
    "never": "never start",
    "only": "start only with it",
    "preemptions": "preemptions",
    "workLostMs": "work lost, ms",
    "waitMeanMs": "mean wait, ms",
    "jain": "fairness (Jain)",
}


class Verdict:
    """The verdict of a what-if; `document` is as REST answers it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    @property
    def differs(self) -> bool:
        """Return whether anything differs."""
        return bool(self.document["differs"])

    @property
    def sums(self) -> dict[str, list[float | None]]:
        """Return each number, per seed; differences are with the change less without."""
        return {name: one["values"] for name, one in self.document["sums"].items()}

    @property
    def assumed(self) -> list[str]:
        """Return a sentence per kind of work whose run time is assumed."""
        return [one["text"] for one in self.document["assumed"]]

    def workloads(self) -> Table:
        """Return a row per seed and workload whose start, end or evictions differ."""
        return Table(
            {"seed": seed["seed"], **_flat(one)}
            for seed in self.document["seeds"]
            for one in seed["verdict"]["workloads"]
        )

    def frame(self) -> Any:
        """Return `workloads` as a pandas DataFrame."""
        return self.workloads().frame()

    def __str__(self) -> str:
        notes = [f"note: {one}" for one in self.assumed]
        return "\n".join([self._said(), *notes])

    def _said(self) -> str:
        if not self.differs:
            return "nothing comes out otherwise"
        found = self.sums
        return ", ".join(
            f"{words}: {_values(found[name])}"
            for name, words in _WORDS.items()
            if any(found.get(name) or ())
        )

    def __repr__(self) -> str:
        return f"<Verdict {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.workloads()._repr_html_()}"


class WhatIf:
    """Changes that are not made: `verdict` says what they would do, `keep` makes them."""

    def __init__(
        self, verdict: Callable[[], Mapping[str, Any]], keep: Callable[[], object]
    ) -> None:
        self._ask, self._keep = verdict, keep
        self._found: Verdict | None = None

    def verdict(self) -> Verdict:
        """Return what the changes would do; worked out once."""
        if self._found is None:
            self._found = Verdict(self._ask())
        return self._found

    def keep(self) -> None:
        """Make the changes in the sandbox, where the what-if began."""
        self._keep()

    def _repr_html_(self) -> str:
        return self.verdict()._repr_html_()


def _values(values: list[float | None]) -> str:
    known = [0.0 if value is None else value for value in values]
    low, high = min(known), max(known)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without levels: `without.startMs` and its like."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            found[name] = value
    return found


# ------------------------------------------------------------------------
# Rows that a notebook shows as a table.


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


# ------------------------------------------------------------------------
# Values over time, one line per name: weighted shares, use.


Points = Sequence[tuple[float, float | None]]  # seconds, value until the next


class Lines:
    """Steps over time: each value holds until the next one. Times are in seconds."""

    def __init__(self, title: str, lines: Mapping[str, Points]) -> None:
        self.title = title
        self.lines = {name: list(points) for name, points in lines.items()}

    def __repr__(self) -> str:
        return f"<{self.title} of {', '.join(self.lines) or 'nothing'}>"

    def table(self) -> Table:
        """Return a row per instant at which a value changes, a column per line."""
        instants = sorted({at for points in self.lines.values() for at, _ in points})
        rows: list[dict[str, Any]] = [{"seconds": at} for at in instants]
        for name, points in self.lines.items():
            changes, value = dict(points), None
            for row in rows:
                value = changes.get(row["seconds"], value)
                row[name] = value
        return Table(rows)

    def frame(self) -> Any:
        """Return a pandas DataFrame with the seconds as its index."""
        return self.table().frame().set_index("seconds")

    def plot(self, **options: Any) -> Any:
        """Draw the steps with matplotlib; return its axes. Options go to pandas."""
        extra("matplotlib")
        drawn = {"drawstyle": "steps-post", "title": self.title, **options}
        return self.frame().plot(**drawn)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
