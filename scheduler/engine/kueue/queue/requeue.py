"""Where a head goes that was not admitted: back to the heap, or inadmissible."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from scheduler.engine.kueue.tree.protocols import PendingWorkloads
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import REQUEUED


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
