"""Which podsets are placed by topology, and which flavors are not for them.

Source: docs/semantics/kueue-topology.md#flavors-and-quota.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.kueue.topology.cache import TopologyCache
from scheduler.engine.kueue.topology.question import (
    level_key,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue, GroupSearch
from scheduler.model.topology import Topology, TopologyRequest
from scheduler.model.workload import PodSet


def asks_for_topology(part: PodSet, queue: ClusterQueue) -> bool:
    """Return whether a podset is placed by topology in a ClusterQueue.

    Source: docs/semantics/kueue-topology.md#who-asks-for-topology.
    """
    return is_explicit(part) or queue.topology_only


def is_explicit(part: PodSet) -> bool:
    """Return whether a podset itself asks for topology."""
    return part.topology is not None and part.topology.explicit


def topology_refusal(
    cache: TopologyCache,
    queue: ClusterQueue,
    parts: Iterable[PodSet],
    flavor: str,
    step: GroupSearch,
) -> str:
    """Return why a flavor is not for these podsets, or "".

    Source: docs/semantics/kueue-topology.md#flavors-and-quota.
    """
    for part in parts:
        reason = _refusal(cache, queue, part, flavor, step)
        if reason:
            return reason
    return ""


def _refusal(
    cache: TopologyCache,
    queue: ClusterQueue,
    part: PodSet,
    flavor: str,
    step: GroupSearch,
) -> str:
    if not is_explicit(part):
        if flavor in cache.flavors and not queue.topology_only:
            return f'Flavor "{flavor}" supports only TopologyAwareScheduling'
        return ""
    if flavor not in cache.flavors:
        group = step.group.resources if step.group is not None else ()
        if not any(name in part.shape.requests for name in group):
            return ""
        return f'Flavor "{flavor}" does not support TopologyAwareScheduling'
    tree = cache.trees.get(flavor)
    if tree is None:
        return f'Flavor "{flavor}" information missing in TAS cache'
    assert part.topology is not None
    if not _has_levels(part.topology, tree.topology):
        return f'Flavor "{flavor}" does not contain the requested level'
    return ""


def _has_levels(request: TopologyRequest, topology: Topology) -> bool:
    key = level_key(request, topology, implied=False)
    named = [key, *(layer.level for layer in request.layers)]
    return all(level in topology.levels for level in named)
