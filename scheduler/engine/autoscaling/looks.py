"""When the autoscaler looks: at multiples of its interval after something happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.engine.stage import Context
from scheduler.model.policy import Autoscaler
from scheduler.model.spans import read_span


class LookTimes:
    """The next look, and when nodes were ordered last; virtual milliseconds."""

    def __init__(self, context: Context, settings: Autoscaler) -> None:
        self.context = context
        self.interval_ms = read_span(settings.scan_interval).values[0]
        self.after_add_ms = read_span(settings.scale_down_delay_after_add).values[0]
        self.provision_ms = read_span(settings.max_node_provision_time).values[0]
        self.scan_ms: int | None = None
        self.added_ms: int | None = None

    @property
    def due(self) -> bool:
        """Return whether it is time to look."""
        return self.scan_ms is not None and self.scan_ms <= self.context.now_ms

    @property
    def just_added(self) -> bool:
        """Return whether nodes were ordered so lately that none is given back."""
        if self.added_ms is None:
            return False
        return self.context.now_ms < self.added_ms + self.after_add_ms

    def again(self) -> None:
        """Look at the next instant that is after now."""
        soon = self._first_from(self.context.now_ms + 1)
        self.scan_ms = soon if self.scan_ms is None else min(self.scan_ms, soon)

    def by(self, at_ms: int) -> None:
        """Look at the first instant from then on that is after now."""
        at = self._first_from(max(at_ms, self.context.now_ms + 1))
        self.scan_ms = at if self.scan_ms is None else min(self.scan_ms, at)

    def when_due(self, dues: Iterable[int]) -> None:
        """Look when the first of these nodes may go, unless a look comes anyway."""
        first = min(dues, default=None)
        if first is None or self.scan_ms is not None:
            return
        at = max(first, self.context.now_ms + 1)
        if self.added_ms is not None:
            at = max(at, self.added_ms + self.after_add_ms)
        self.scan_ms = self._first_from(at)

    def _first_from(self, at_ms: int) -> int:
        """Return the first instant from `at_ms` on at which it may look."""
        return -(-at_ms // self.interval_ms) * self.interval_ms

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"scan": self.scan_ms, "added": self.added_ms}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take back `state`."""
        self.scan_ms = state.get("scan")
        self.added_ms = state.get("added")
