"""Fair nodes: the least used node first, so that load spreads."""

from __future__ import annotations

from scheduler.model.registry import register


@register(
    "node-sort",
    "fair",
    label="Fair nodes",
    help="Try the least used node first: load spreads over all nodes.",
)
class FairNodes:
    """The node sort `fair`. Source: docs/semantics/yunikorn.md#order-of-nodes"""

    def score(self, used: float) -> float:
        """Return the used share itself."""
        return used
