"""What nodes cost: how long each price was paid.

Times are whole milliseconds, so the sum is the same to the last digit in whatever
order nodes go. Source: docs/semantics/capacity.md#cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

_HOUR_MS = 3_600_000


class Bill:
    """Node-milliseconds at each price per hour, of nodes and prices that are gone."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[float, int] = {}

    def add(self, entries: Iterable[tuple[float, int]]) -> None:
        """Add what was paid: price per hour, and milliseconds."""
        for price, lasted in entries:
            if price and lasted:
                self.held[price] = self.held.get(price, 0) + lasted

    def total(self, running: Iterable[tuple[float, int]]) -> float:
        """Return the cost so far, including that of running nodes up to now."""
        whole = Bill()
        whole.held = dict(self.held)
        whole.add(running)
        return math.fsum(price * ms for price, ms in whole.held.items()) / _HOUR_MS

    def state(self) -> list[list[float]]:
        """Return plain values, lowest price first."""
        return [[price, self.held[price]] for price in sorted(self.held)]

    def load(self, state: Any) -> None:
        """Take back `state`."""
        self.held = {float(price): int(ms) for price, ms in state}
