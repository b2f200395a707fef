"""Where a head goes that was not admitted: back to the heap, or inadmissible."""

from __future__ import annotations

import heapq
from enum import Enum
from typing import Protocol

from scheduler.engine.kueue.tree.tree import PendingWorkloads
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model.kueue.configuration import Waiting
from scheduler.model.objects import Key
from scheduler.model.reasons import ADMITTED, PODS_READY, REQUEUED, WAIT_FOR_RECOVERY


class RequeueReason(Enum):
    """Why a head comes back.

    Source: docs/semantics/kueue.md#requeueing-after-a-cycle.
    """

    GENERIC = "Generic"
    NAMESPACE_MISMATCH = "NamespaceMismatch"
    FAILED_AFTER_NOMINATION = "FailedAfterNomination"
    PENDING_PREEMPTION = "PendingPreemption"
    PENDING_MIGRATION = "PendingMigration"
    PREEMPTION_FAILED = "PreemptionFailed"
    PREEMPTION_GATED = "PreemptionGated"
    NO_FIT = "NoFit"
    NO_CANDIDATES = "PreemptionNoCandidates"


class QueueingStrategy(Protocol):
    """A queueing strategy, as enrolled."""

    equivalence_hashing: bool
    sticky: bool

    @staticmethod
    def immediate(reason: RequeueReason) -> bool:
        """Return whether a head that failed for `reason` goes straight back."""


#: Others are evicted for it: it goes first until it is admitted.
_FOR_ITSELF = (RequeueReason.PENDING_PREEMPTION, RequeueReason.PENDING_MIGRATION)
_ALIKE = (RequeueReason.NO_FIT, RequeueReason.NO_CANDIDATES)


def backoff_over(work: WorkloadInfo, now_us: int) -> bool:
    """Return whether the workload may be tried again by now."""
    requeued = work.conditions.get(REQUEUED)
    if requeued is not None and not requeued.status:
        return False
    return work.requeue_at_us is None or work.requeue_at_us <= now_us


def requeue_head(
    pending: PendingWorkloads,
    work: WorkloadInfo,
    *,
    strategy: QueueingStrategy,
    reason: RequeueReason,
    why: str,
    now_us: int,
) -> bool:
    """Put a head that was tried back; return whether it is inadmissible.

    `why` is its condition's reason, which its equivalents get as well.
    Source: docs/semantics/kueue.md#requeueing-after-a-cycle.
    """
    pending.clear_inflight(work)
    if reason in _FOR_ITSELF:
        pending.preemptor = work if strategy.sticky else None
    again = strategy.immediate(reason) or (
        work.last_assignment is not None and work.last_assignment.has_pending_flavors
    )
    over = backoff_over(work, now_us)
    if again and over:
        pending.push(work)
        return pending.is_inadmissible(work)
    if pending.equivalence_hashing and reason in _ALIKE:
        pending.mark_class_inadmissible(work.scheduling_hash, why)
    if pending.equivalence_hashing and reason in _ALIKE and over:
        pending.push(work)
    else:
        pending.add_inadmissible(work)
    return True


# ------------------------------------------------------------------------
# One instant per workload at most, and who is due next.


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


# ------------------------------------------------------------------------
# When the clock matters to a workload: backoff, pods that take too long, run time.


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
