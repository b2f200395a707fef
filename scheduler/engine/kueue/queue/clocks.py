"""When the clock matters to a workload: backoff, pods that take too long, run time.

Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
"""

from __future__ import annotations

from scheduler.engine.kueue.queue.timer_heap import TimerHeap
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model.kueue.configuration import Waiting
from scheduler.model.reasons import ADMITTED, PODS_READY, WAIT_FOR_RECOVERY

_US_PER_MS = 1000
_US_PER_S = 1_000_000


def execution_deadline(work: WorkloadInfo) -> int | None:
    """Return when (us) the workload has run for too long; None = never.

    Source: docs/semantics/kueue-lifecycle.md#maximum-execution-time.
    """
    if work.max_execution_s is None:
        return None
    admitted = work.conditions.get(ADMITTED)
    if admitted is None or not admitted.status:
        return None
    left = work.max_execution_s - work.accumulated_s
    return _whole_seconds(admitted.since_us) + left * _US_PER_S


def pods_ready_deadline(work: WorkloadInfo, waiting: Waiting | None) -> int | None:
    """Return when (us) the workload's pods have taken too long; None = never.

    Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
    """
    if waiting is None:
        return None
    admitted, ready = work.conditions.get(ADMITTED), work.conditions.get(PODS_READY)
    if admitted is None or not admitted.status or (ready and ready.status):
        return None
    if ready is None or ready.reason != WAIT_FOR_RECOVERY:
        return _whole_seconds(admitted.since_us) + waiting.timeout_ms * _US_PER_MS
    if waiting.recovery_ms is None:
        return None
    return _whole_seconds(ready.since_us) + waiting.recovery_ms * _US_PER_MS


def _whole_seconds(since_us: int) -> int:
    """Return an instant as the conditions of an object have it.

    Deadlines count from what was written, and Kubernetes writes whole seconds.
    """
    return since_us // _US_PER_S * _US_PER_S


def _deadline(work: WorkloadInfo, waiting: Waiting | None, now_us: int) -> int | None:
    """Return the next instant (us) that matters to a workload, or None.

    While a check delays its retry, nothing else does.
    """
    if work.finished or not work.active:
        return None
    if not work.reserved:
        return work.requeue_at_us
    if work.evicted:
        return None
    if work.requeue_at_us is not None and work.requeue_at_us > now_us:
        return work.requeue_at_us
    limits = (execution_deadline(work), pods_ready_deadline(work, waiting))
    return min((limit for limit in limits if limit is not None), default=None)


class Timers(TimerHeap):
    """When the clock next matters to each workload."""

    def __init__(self, context: Context, waiting: Waiting | None) -> None:
        super().__init__(context)
        self.waiting = waiting

    def arm(self, work: WorkloadInfo) -> None:
        """Set, move or drop the timer of a workload after it changed."""
        if self.waiting is None and not (work.max_execution_s or work.requeue_at_us):
            at_us = None  # the usual case: the clock never matters
        else:
            at_us = _deadline(work, self.waiting, self.context.now_us)
        # Never before its time.
        at = None if at_us is None else self.context.ms(at_us + _US_PER_MS - 1)
        self.set(work.key, at)
