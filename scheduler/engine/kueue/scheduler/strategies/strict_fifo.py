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
