"""StrictFIFO: nobody is tried before the head has been admitted."""

from __future__ import annotations

from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.model.registry import register


@register(
    "queueing",
    "StrictFIFO",
    label="Strict, first in first out",
    help="By priority, then by age. A head that does not fit blocks those behind it.",
)
class StrictFIFO:
    """Source: docs/semantics/kueue.md#requeueing-after-a-cycle."""

    equivalence_hashing = False
    sticky = False

    @staticmethod
    def immediate(reason: RequeueReason) -> bool:
        """Return whether a head that failed for `reason` goes straight back."""
        return reason is not RequeueReason.NAMESPACE_MISMATCH


# ------------------------------------------------------------------------
# BestEffortFIFO: who cannot be admitted now steps aside for those behind.


@register(
    "queueing",
    "BestEffortFIFO",
    label="Best effort, first in first out",
    help="By priority, then by age. A workload that does not fit is inadmissible until "
    "quota is released, and those behind it are tried.",
)
class BestEffortFIFO:
    """Source: docs/semantics/kueue.md#requeueing-after-a-cycle."""

    equivalence_hashing = True  # a failed head takes its like with it
    sticky = True  # a workload that waits for its victims stays at the head

    @staticmethod
    def immediate(reason: RequeueReason) -> bool:
        """Return whether a head that failed for `reason` goes straight back."""
        return reason in (
            RequeueReason.FAILED_AFTER_NOMINATION,
            RequeueReason.PENDING_PREEMPTION,
            RequeueReason.PENDING_MIGRATION,
            RequeueReason.PREEMPTION_FAILED,
        )
