"""Groups that are alike but for their zone grow together.

Source: docs/semantics/capacity.md#expanders.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.autoscaling.node_group import NodeGroup
from scheduler.model.autoscaling.group_spec import GROUP_LABEL
from scheduler.model.node import HOSTNAME, REGION, ZONE

_IGNORED = frozenset(
    {
        GROUP_LABEL,
        HOSTNAME,
        REGION,
        ZONE,
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
    }
)


def similar(group: NodeGroup, groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return the groups whose nodes are equal to this one's, itself included."""
    return [one for one in groups if _alike(one) == _alike(group)]


def _alike(group: NodeGroup) -> tuple[object, ...]:
    node = group.template
    labels = {k: v for k, v in node.labels.items() if k not in _IGNORED}
    return sorted(labels.items()), node.taints, sorted(node.allocatable.items())


def shares(groups: Iterable[NodeGroup], nodes: int) -> list[NodeGroup]:
    """Return the group of each of `nodes` new nodes: always the smallest that may grow."""
    sizes = {one.name: one.size for one in groups}
    by_name = {one.name: one for one in groups}
    given: list[NodeGroup] = []
    for _ in range(nodes):
        able = [n for n, one in by_name.items() if sizes[n] < one.spec.max_nodes]
        if not able:
            break
        least = min(able, key=lambda name: (sizes[name], name))
        sizes[least] += 1
        given.append(by_name[least])
    return given
