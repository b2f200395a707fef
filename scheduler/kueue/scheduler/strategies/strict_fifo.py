"""StrictFIFO: nobody is tried before the head has been admitted."""

from __future__ import annotations

from scheduler.kueue.queue.requeue import Reason
from scheduler.registry import register


@register(
    "queueing",
    "StrictFIFO",
    label="Strict, first in first out",
    help="By priority, then by age. A head that does not fit blocks those behind it.",
)
class StrictFIFO:
    """Source: KUEUE.md 5.5, 5.6."""

    hashing = False
    sticky = False

    @staticmethod
    def immediate(reason: Reason) -> bool:
        """Tell whether a head that failed for `reason` goes straight back."""
        return reason is not Reason.NAMESPACE_MISMATCH
