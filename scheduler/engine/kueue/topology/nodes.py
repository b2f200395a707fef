"""Nodes and other pods as topology counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler.model import amounts
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.selectors import Taint, read_taints

Manifest = Mapping[str, Any]

_PREFIX = "kueue.x-k8s.io/podset-"
#: A pod with one of these stands in a workload's assignment and is counted there.
PLACED_BY_TOPOLOGY = tuple(
    _PREFIX + name
    for name in (
        "required-topology",
        "preferred-topology",
        "unconstrained-topology",
        "slice-required-topology",
        "slice-required-topology-constraints",
    )
)
UNCONSTRAINED = _PREFIX + "unconstrained-topology"
_ENDED = ("Succeeded", "Failed")


class TopologyNode(NamedTuple):
    """A Node: labels, taints, allocatable; `usable` while pods may go there."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, int]  # canonical units, all resources
    usable: bool
    ready: bool = True

    def belongs(self, labels: Mapping[str, str], levels: tuple[str, ...]) -> bool:
        """Return whether it is in the tree of a flavor with these labels and levels.

        Source: docs/semantics/kueue-topology.md#which-nodes-count.
        """
        own = self.labels
        return (
            self.usable
            and all(own.get(key) == value for key, value in labels.items())
            and all(level in own for level in levels)
        )


def read_topology_node(manifest: Manifest, status: Manifest) -> TopologyNode:
    """Return the node. Raises QuantityError for an invalid allocatable."""
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    labels = metadata.get("labels") or {}
    return TopologyNode(
        name=str(metadata.get("name", "")),
        labels={str(key): str(value) for key, value in labels.items()},
        taints=read_taints(spec.get("taints")),
        allocatable={
            name: amounts.canonical(name, text)
            for name, text in (status.get("allocatable") or {}).items()
        },
        usable=not spec.get("unschedulable") and is_ready(status),
        ready=is_ready(status),
    )


def is_ready(status: Manifest) -> bool:
    """Return whether the condition Ready is there and True.

    A document that has no conditions at all was written by a person.
    Source: docs/semantics/kueue-topology.md#failed-nodes.
    """
    conditions = status.get("conditions")
    return conditions is None or any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


class OtherPod(NamedTuple):
    """A bound pod that no assignment stands for, and what it takes of its node."""

    node: str
    takes: Mapping[str, int]


def read_other_pod(manifest: Manifest, status: Manifest) -> OtherPod | None:
    """Return what a pod takes from its node; None when it does not count.

    Source: docs/semantics/kueue-topology.md#capacity-of-a-leaf.
    """
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    node = spec.get("nodeName")
    if not node or status.get("phase") in _ENDED:
        return None
    annotations = metadata.get("annotations") or {}
    if any(name in annotations for name in PLACED_BY_TOPOLOGY):
        return None
    return OtherPod(node, PlacementNeeds(spec).per_pod)
