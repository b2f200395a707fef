"""What may grow, what it costs, and why it does not grow for what waits."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.numbers import Shape


class GrowingNodes(Shape):
    """A NodeGroup or NodePool: its nodes, and what an hour of them costs now.

    `most` is its maximum, None where only limits of resources bound it.
    """

    kind: str
    name: str
    nodes: int
    booting: int
    most: int | None
    per_hour: float


class GrowthRefusal(Shape):
    """Why one of them does not grow for a pod; "" where it may. `code` names it."""

    kind: str
    name: str
    reason: str
    code: str = ""


class UnplacedPods(Shape):
    """Pods of one shape that fit nowhere: how many, and the first of them."""

    pod: str
    pods: int
    refusals: list[GrowthRefusal]


class Capacity(Shape):
    """Nodes that come and go. `cost` is what they cost since they were ordered."""

    at_ms: int
    cost: float
    per_hour: float
    groups: list[GrowingNodes]
    unplaced: list[UnplacedPods]
    looks_ms: int | None  # when the autoscaler looks next; None: when something happens
