"""Preemption simulated while flavors are searched: the victims that one resource would need.

Source: docs/semantics/kueue.md#fit-of-one-flavor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler.engine.kueue.flavorassigner.modes import FlavorFit, Mode
from scheduler.engine.kueue.flavorassigner.topology import TopologyPlacement
from scheduler.engine.kueue.preemption.targets import Target, TargetSearch
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.protocols import FlavorResource
from scheduler.engine.kueue.tree.quota import (
    add_usages,
    borrowing_height,
    remove_usages,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue, ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo


class PreemptionOracle:
    """Answers for one workload in one state of the quota tree; keeps what it found."""

    __slots__ = ("queue", "search", "simulated", "trace", "work")

    def __init__(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue,
        search: TargetSearch,
        trace: Trace | None,
    ) -> None:
        self.work = work
        self.queue = queue
        self.search = search
        self.trace = trace
        self.simulated: dict[tuple[ResourceNode, int], list[Target]] = {}

    def simulate(self, resource_node: ResourceNode, amount: int) -> FlavorFit:
        """Return how `amount` would be served by preemption."""
        targets = self.simulated.get((resource_node, amount))
        if targets is None:
            needed = frozenset((resource_node.flavor_resource,))
            targets = self._searched("flavor", {resource_node: amount}, needed)
            self.simulated[resource_node, amount] = targets
        if not targets:
            return FlavorFit(
                Mode.NO_CANDIDATES, borrowing_height(resource_node, amount)[0]
            )
        return FlavorFit(
            _mode(targets, self.queue), _height_without(targets, resource_node, amount)
        )

    def targets(
        self,
        requests: dict[ResourceNode, int],
        needed: set[FlavorResource],
        placement: TopologyPlacement | None,
    ) -> list[Target]:
        """Return the workloads to preempt so that all of it fits and places are free."""
        known = self._simulated_whole(requests, needed) if placement is None else None
        if known is not None:
            return known
        return self._searched("assignment", requests, frozenset(needed), placement)

    def _searched(
        self,
        what: str,
        requests: dict[ResourceNode, int],
        needed: frozenset[FlavorResource],
        placement: TopologyPlacement | None = None,
    ) -> list[Target]:
        if self.trace is not None:
            self.trace.search(what, requests, needed)
        return self.search(self.work, self.queue, requests, needed, placement)

    def _simulated_whole(
        self, requests: Mapping[ResourceNode, int], needed: set[FlavorResource]
    ) -> list[Target] | None:
        """Return the targets already found for exactly this, if it was simulated."""
        if len(requests) != 1 or len(needed) != 1:
            return None
        ((resource_node, amount),) = requests.items()
        if resource_node.flavor_resource not in needed:
            return None
        return self.simulated.get((resource_node, amount))


def _mode(targets: Sequence[Target], queue: ClusterQueue) -> Mode:
    own = any(target.work.cluster_queue is queue for target in targets)
    return Mode.PREEMPT if own else Mode.RECLAIM


def _height_without(
    targets: Sequence[Target], resource_node: ResourceNode, amount: int
) -> int:
    for target in targets:
        remove_usages(target.work.usage)
    height = borrowing_height(resource_node, amount)[0]
    for target in reversed(targets):
        add_usages(target.work.usage)
    return height
