"""Where a head goes that was not admitted: back to the heap, or parked."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from scheduler.kueue.queue.pending import Line
from scheduler.kueue.workload.info import Work
from scheduler.reasons import REQUEUED


class Reason(Enum):
    """Why a head comes back. Source: KUEUE.md 5.5."""

    GENERIC = "Generic"
    NAMESPACE_MISMATCH = "NamespaceMismatch"
    FAILED_AFTER_NOMINATION = "FailedAfterNomination"
    PENDING_PREEMPTION = "PendingPreemption"
    PREEMPTION_FAILED = "PreemptionFailed"
    NO_FIT = "NoFit"
    NO_CANDIDATES = "PreemptionNoCandidates"


class Queueing(Protocol):
    """A queueing strategy, as enrolled."""

    hashing: bool
    sticky: bool

    @staticmethod
    def immediate(reason: Reason) -> bool:
        """Tell whether a head that failed for `reason` goes straight back."""


_ALIKE = (Reason.NO_FIT, Reason.NO_CANDIDATES)


def backoff_over(work: Work, now_us: int) -> bool:
    """Tell whether the workload may be tried again by now."""
    requeued = work.conditions.get(REQUEUED)
    if requeued is not None and not requeued.status:
        return False
    return work.requeue_at_us is None or work.requeue_at_us <= now_us


def put_back(
    line: Line,
    work: Work,
    *,
    strategy: Queueing,
    reason: Reason,
    why: str,
    now_us: int,
) -> bool:
    """Put a head that was tried back; return whether it is parked.

    `why` is its condition's reason, which those parked with it are told.
    Source: KUEUE.md 5.5 to 5.7.
    """
    line.land(work)
    if reason is Reason.PENDING_PREEMPTION:
        line.sticky = work if strategy.sticky else None
    again = strategy.immediate(reason) or (
        work.attempt is not None and work.attempt.pending
    )
    if again and backoff_over(work, now_us):
        line.push(work)
        return line.parked(work)
    if line.hashing and reason in _ALIKE:
        line.park_family(work.identity, why)
        line.push(work)
    else:
        line.park(work)
    return True
