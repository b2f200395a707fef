"""Retention: how long a workload stays that has finished, or that Kueue gave up on.

Source: docs/semantics/kueue-lifecycle.md#retention.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.kueue.queue.timer_heap import TimerHeap
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model.kueue.retention_settings import RetentionSettings
from scheduler.model.objects import Key
from scheduler.model.reasons import DEACTIVATED_DUE_TO, EVICTED, FINISHED

_US = 1_000_000


class Retention(TimerHeap):
    """When each workload is to be deleted."""

    def __init__(self, context: Context, settings: RetentionSettings) -> None:
        super().__init__(context)
        self.settings = settings

    def arm(self, work: WorkloadInfo) -> None:
        """Set or drop the end of a workload's stay after it changed."""
        self.set(work.key, self._ends_ms(work))

    def take_due(self) -> Iterable[Key]:
        """Take out the workloads whose stay is over by now."""
        while (key := self.pop_due()) is not None:
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
