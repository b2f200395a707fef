"""The Prometheus text format: families of samples, written once per name.

Source: version 0.0.4 of
<https://prometheus.io/docs/instrumenting/exposition_formats/>
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper bounds in seconds: exponential from 1 to 10240, as Kueue's waits have.
BUCKETS = (1.0, 2.5, 5.0, *(10.0 * 2**n for n in range(11)))
Labels = Mapping[str, str]


class Exposition:
    """Samples by family, in the order in which families were first named."""

    def __init__(self, *, note: str = " (simulated time)") -> None:
        """Put the note behind every line of help."""
        self._note = note
        self._families: dict[str, tuple[str, str, list[str]]] = {}
        self._labels: dict[str, str] = {}

    def under(self, **labels: str) -> Exposition:
        """Return one that adds to the same families, with these labels first."""
        found = Exposition(note=self._note)
        found._families = self._families
        found._labels = self._labels | labels
        return found

    def gauge(self, name: str, help_: str, value: float, /, **labels: str) -> None:
        """Add one sample of a gauge."""
        self._add(name, "gauge", help_, value, labels)

    def counter(self, name: str, help_: str, value: float, /, **labels: str) -> None:
        """Add one sample of a counter."""
        self._add(name, "counter", help_, value, labels)

    def _add(
        self, name: str, type_: str, help_: str, value: float, labels: Labels
    ) -> None:
        all_ = _set({**self._labels, **labels})
        self._lines(name, type_, help_).append(f"{name}{all_} {_number(value)}")

    def observe(
        self,
        name: str,
        help_: str,
        values: Iterable[float],
        buckets: Sequence[float] = BUCKETS,
    ) -> None:
        """Add a histogram of these values."""
        labels = self._labels
        found = sorted(values)
        lines = self._lines(name, "histogram", help_)
        seen = 0
        for bound in (*buckets, math.inf):
            while seen < len(found) and found[seen] <= bound:
                seen += 1
            own = {**labels, "le": _number(bound)}
            lines.append(f"{name}_bucket{_set(own)} {seen}")
        lines.append(f"{name}_sum{_set(labels)} {_number(sum(found))}")
        lines.append(f"{name}_count{_set(labels)} {len(found)}")

    def histogram(
        self, name: str, help_: str, counts: Mapping[str, float], total: float
    ) -> None:
        """Add a histogram of what was counted by upper bound, the last of all "+Inf"."""
        lines, seen = self._lines(name, "histogram", help_), 0.0
        for bound, count in counts.items():
            seen += count
            lines.append(f"{name}_bucket{_set({'le': bound})} {_number(seen)}")
        lines.append(f"{name}_sum {_number(total)}")
        lines.append(f"{name}_count {_number(seen)}")

    def take(self, other: Exposition) -> None:
        """Add all samples of another one."""
        for name, (type_, help_, lines) in other._families.items():
            self._lines(name, type_, help_).extend(lines)

    def is_empty(self) -> bool:
        """Return whether nothing was added."""
        return not self._families

    def _lines(self, name: str, type_: str, help_: str) -> list[str]:
        return self._families.setdefault(name, (type_, help_, []))[2]

    def text(self) -> str:
        """Return the exposition."""
        parts = []
        for name, (type_, help_, lines) in self._families.items():
            parts.append(f"# HELP {name} {help_}{self._note}")
            parts.append(f"# TYPE {name} {type_}")
            parts += lines
        return "\n".join(parts) + "\n"


def _set(labels: Labels) -> str:
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else f"{value:.15g}"
