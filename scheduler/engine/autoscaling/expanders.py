"""Which of the groups that would help grows.

Source: docs/semantics/capacity.md#expanders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler.engine.autoscaling.node_group import NodeGroup
from scheduler.engine.autoscaling.packing import NodeSpace
from scheduler.model.node import CPU, MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthOption:
    """A group, the nodes that it would add, and how many pods they would take."""

    group: NodeGroup
    spaces: list[NodeSpace]
    pods: int

    @property
    def nodes(self) -> int:
        """Return how many nodes it would add."""
        return len(self.spaces)

    @property
    def waste(self) -> float:
        """Return the share of cpu and of memory that would stay idle, summed."""
        return sum(self._idle(resource) for resource in (CPU, MEMORY))

    @property
    def price(self) -> float:
        """Return the price of its nodes per hour."""
        return self.nodes * self.group.spec.price_per_hour

    def _idle(self, resource: str) -> float:
        whole = sum(space.node.allocatable.get(resource, 0) for space in self.spaces)
        idle = sum(space.free.get(resource, 0) for space in self.spaces)
        return idle / whole if whole else 0.0


#: The priority of each group, and a number drawn from the seed.
Priority = Callable[[str], int | None]
Draw = Callable[[str], float]
#: Of each expander: the least of this is best.
_ORDERS: dict[str, Callable[[GrowthOption], float]] = {
    "least-waste": lambda option: option.waste,
    "price": lambda option: option.price / option.pods,
    "most-pods": lambda option: -option.pods,
    "least-nodes": lambda option: option.nodes,
}


def best(
    options: Sequence[GrowthOption],
    expanders: Sequence[str],
    priority: Priority,
    draw: Draw,
) -> GrowthOption:
    """Return the option that the expanders leave, each asked about the ties before.

    What is left over is decided by name. A group without a priority is out where
    another has one.
    """
    left = sorted(options, key=lambda option: option.group.name)
    for name in expanders:
        if name == "priority":
            left = _highest(left, priority)
            continue
        order = _ORDERS.get(name) or (lambda option: draw(option.group.name))
        least = min(order(option) for option in left)
        left = [option for option in left if order(option) == least]
    return left[0]


def _highest(left: list[GrowthOption], priority: Priority) -> list[GrowthOption]:
    given = {option.group.name: priority(option.group.name) for option in left}
    most = max((one for one in given.values() if one is not None), default=None)
    return [option for option in left if given[option.group.name] == most]
