"""What a change would do: both sides run to the same horizon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from api.notebook.tables import Table

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
        """Return what they would do; worked out once."""
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
