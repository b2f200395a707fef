"""Bin packing: the most used node first, so that nodes fill up one by one."""

from __future__ import annotations

from scheduler.model.registry import register


@register(
    "node-sort",
    "binpacking",
    label="Bin packing",
    help="Try the most used node first: few nodes fill up and the rest stay empty.",
)
class BinPacking:
    """The node sort `binpacking`. Source: docs/semantics/yunikorn.md#order-of-nodes"""

    def score(self, used: float) -> float:
        """Return the free share: the fullest node has the lowest."""
        return 1.0 - used


# ------------------------------------------------------------------------
# Fair nodes: the least used node first, so that load spreads.


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
