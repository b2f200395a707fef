"""Retention: how long a workload stays that has finished, or that Kueue gave up on.

Source: docs/semantics/kueue-lifecycle.md#retention.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from scheduler.kueue.retention_settings import RetentionSettings
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.reasons import DEACTIVATED_DUE_TO, EVICTED, FINISHED
from scheduler.records.objects import Key
from scheduler.stage import Context

_US = 1_000_000


class Retention:
    """When each workload is to be deleted; a stale time is dropped when it is met."""

    def __init__(self, context: Context, settings: RetentionSettings) -> None:
        self.context = context
        self.settings = settings
        self._heap: list[tuple[int, Key]] = []
        self._armed: dict[Key, int] = {}

    def arm(self, work: WorkloadInfo) -> None:
        """Set or drop the end of a workload's stay after it changed."""
        at = self._ends_ms(work)
        if at is None:
            self._armed.pop(work.key, None)
        elif self._armed.get(work.key) != at:
            self._armed[work.key] = at
            heapq.heappush(self._heap, (at, work.key))

    def drop(self, key: Key) -> None:
        """Forget a workload that is gone."""
        self._armed.pop(key, None)

    def due(self) -> int | None:
        """Return the next instant (ms) at which one is to be deleted, or None."""
        while self._heap:
            at, key = self._heap[0]
            if self._armed.get(key) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def take_due(self) -> Iterable[Key]:
        """Take out the workloads whose stay is over by now."""
        while (at := self.due()) is not None and at <= self.context.now_ms:
            _, key = heapq.heappop(self._heap)
            del self._armed[key]
            yield key

    def _ends_ms(self, work: WorkloadInfo) -> int | None:
        finished, evicted = work.conditions.get(FINISHED), work.conditions.get(EVICTED)
        if finished is not None and finished.status:
            return self._after(finished.since_us, self.settings.finished_ms)
        if work.active or evicted is None or not evicted.status or work.reserved:
            return None
        if not evicted.reason.startswith(DEACTIVATED_DUE_TO):
            return None  # a person did it
        return self._after(evicted.since_us, self.settings.deactivated_ms)

    def _after(self, since_us: int, stays_ms: int | None) -> int | None:
        """Return the end of a stay, counted from the whole second that is written."""
        if stays_ms is None:
            return None
        at = self.context.ms(since_us // _US * _US) + stays_ms
        return max(at, self.context.ms(since_us))
