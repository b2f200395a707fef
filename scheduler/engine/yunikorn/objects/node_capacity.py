"""A node's capacity and what is available of it."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts, Needs


class NodeCapacity:
    """available = capacity - YuniKorn's pods - what other schedulers' pods occupy."""

    __slots__ = ("available", "capacity", "name", "occupied", "schedulable")

    def __init__(self, name: str, capacity: Amounts, *, schedulable: bool) -> None:
        self.name = name
        self.capacity = capacity
        self.available: Amounts = dict(capacity)
        self.occupied: Amounts = {}
        self.schedulable = schedulable

    def fits(self, needs: Needs) -> bool:
        """Return whether the needs fit in what is available now."""
        available = self.available
        return all(value <= available.get(name, 0) for name, value in needs)

    def could_hold(self, needs: Needs) -> bool:
        """Return whether the needs fit the empty node."""
        return resources.fits(self.capacity, needs)

    def fit_score(self, needs: Mapping[str, int]) -> float:
        """Return how badly an ask would fill what is available; low is tight.

        Types of which nothing is available add nothing.
        Source: docs/semantics/yunikorn.md#fit-score
        """
        score = 0.0
        for name, available in self.available.items():
            if available <= 0:
                continue
            wanted = needs.get(name, 0)
            if wanted <= 0:
                score += 1.0
            elif available > wanted:
                score += (available - wanted) / available
        return score
