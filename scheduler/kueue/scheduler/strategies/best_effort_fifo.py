"""BestEffortFIFO: who cannot be admitted now steps aside for those behind."""

from __future__ import annotations

from scheduler.kueue.queue.requeue import Reason
from scheduler.registry import register


@register(
    "queueing",
    "BestEffortFIFO",
    label="Best effort, first in first out",
    help="By priority, then by age. A workload that does not fit is parked until "
    "quota is released, and those behind it are tried.",
)
class BestEffortFIFO:
    """Source: KUEUE.md 5.5 to 5.7."""

    hashing = True  # equivalent workloads are parked together
    sticky = True  # a workload that waits for its victims stays at the head

    @staticmethod
    def immediate(reason: Reason) -> bool:
        """Tell whether a head that failed for `reason` goes straight back."""
        return reason in (
            Reason.FAILED_AFTER_NOMINATION,
            Reason.PENDING_PREEMPTION,
            Reason.PREEMPTION_FAILED,
        )
