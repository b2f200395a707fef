"""One instant per workload at most, and who is due next."""

from __future__ import annotations

import heapq

from scheduler.engine.stage import Context
from scheduler.model.objects import Key


class TimerHeap:
    """Instants of workloads; a stale one is dropped when it is met.

    Cost: O(log n) per change, O(1) for what is due.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self._heap: list[tuple[int, Key]] = []
        self._armed: dict[Key, int] = {}

    def set(self, key: Key, at: int | None) -> None:
        """Set or move the instant (ms) of a workload; None: it has none."""
        if at is None:
            self.drop(key)
        elif self._armed.get(key) != at:
            self._armed[key] = at
            heapq.heappush(self._heap, (at, key))

    def drop(self, key: Key) -> None:
        """Forget a workload."""
        if self._armed:
            self._armed.pop(key, None)

    def due(self) -> int | None:
        """Return the next instant (ms) that is set, or None."""
        while self._heap:
            at, key = self._heap[0]
            if self._armed.get(key) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def pop_due(self) -> Key | None:
        """Take a workload that is due by now; None when there is none left."""
        at = self.due()
        if at is None or at > self.context.now_ms:
            return None
        _, key = heapq.heappop(self._heap)
        del self._armed[key]
        return key
