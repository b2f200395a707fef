"""How long work waited: the one definition that every view and report uses.

A wait lasts from the arrival to the first start. Of what never started it is not known
but for a lower bound, what it has waited so far (to the horizon of a run); it counts
with that, and how many such there are stands beside every figure. So work that
starves never makes a wait look short.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from scheduler.analysis.measures.statistics import quantile


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Waits in order (ms), those of what never started among them as lower bounds."""

    ordered: list[int]
    never_started: int

    @property
    def mean_ms(self) -> float | None:
        """Return the mean; None for nothing."""
        return sum(self.ordered) / len(self.ordered) if self.ordered else None

    @property
    def max_ms(self) -> float | None:
        """Return the longest; None for nothing."""
        return float(self.ordered[-1]) if self.ordered else None

    def quantile(self, share: float) -> float | None:
        """Return a quantile by linear interpolation; None for nothing."""
        return quantile(self.ordered, share)


def waits_of(subjects: Iterable[tuple[int, int | None]], end_ms: int) -> Waits:
    """Return the waits of subjects, each (arrival, first start or None) in ms.

    `end_ms` is up to when what never started has waited. O(n log n).
    """
    waits, never = [], 0
    for arrived_ms, started_ms in subjects:
        if started_ms is None:
            never += 1
            started_ms = max(end_ms, arrived_ms)
        waits.append(started_ms - arrived_ms)
    return Waits(ordered=sorted(waits), never_started=never)
