"""BestEffortFIFO: who cannot be admitted now steps aside for those behind."""

from __future__ import annotations

from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.model.registry import register


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
