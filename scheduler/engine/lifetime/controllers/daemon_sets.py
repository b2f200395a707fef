"""DaemonSet: a pod on every node that its template may run on.

Source: docs/semantics/controllers.md#daemonset.
"""

from __future__ import annotations

import copy
from typing import Any

from scheduler.engine.lifetime.controllers.replica_sets import (
    active_pods,
    make_owned_pod,
)
from scheduler.engine.lifetime.taint_eviction import TaintEviction
from scheduler.model.node import Node, read_node
from scheduler.model.objects import Object
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.selectors import tolerated

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE = "node.kubernetes.io/"
#: Taints that each pod of a DaemonSet tolerates, without end.
_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_OF_THE_HOST = ("network-unavailable", "NoSchedule")


def sync_daemon_set(
    lifetime: TaintEviction, daemon_set: Object, pods: list[Object]
) -> None:
    """Make a pod for each node that lacks one; delete those that belong to none."""
    template = daemon_set.spec["template"]["spec"]
    needs = PlacementNeeds({**template, "tolerations": _tolerations(template)})
    nodes = [lifetime.host.objects[key] for key in sorted(lifetime.nodes)]
    read = [read_node(one.manifest, one.status) for one in nodes]
    matching = {node.name: node for node in read if _matches(needs, node)}
    taken: set[str] = set()
    for pod in active_pods(lifetime, pods):
        name = _node_of(pod)
        node = matching.get(name)
        if node is None or name in taken or not _fits(needs, node, ("NoExecute",)):
            lifetime.terminate(pod.key)
        taken.add(name)
    for name, node in matching.items():
        if name in taken or not _fits(needs, node, ("NoExecute", "NoSchedule")):
            continue
        if not make_owned_pod(lifetime, daemon_set, _bound_to(template, name)):
            break
    else:
        lifetime.jobs.has_its_pods(daemon_set)


def _matches(needs: PlacementNeeds, node: Node) -> bool:
    """Return whether the template's selector and affinity let it on the node."""
    if any(node.labels.get(key) != value for key, value in needs.selector.items()):
        return False
    terms = needs.terms
    return terms is None or any(term.matches(node.name, node.labels) for term in terms)


def _fits(needs: PlacementNeeds, node: Node, effects: tuple[str, ...]) -> bool:
    """Return whether it tolerates the taints of these effects."""
    return all(
        tolerated(taint, needs.tolerations)
        for taint in node.taints
        if taint.effect in effects
    )


def _tolerations(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tolerations of the template and those that each such pod gets."""
    usual = [*_TOLERATED, *([_OF_THE_HOST] if template.get("hostNetwork") else [])]
    added = [
        {"key": _NODE + name, "operator": "Exists", "effect": effect}
        for name, effect in usual
    ]
    return [*(template.get("tolerations") or []), *added]


def _bound_to(template: dict[str, Any], node: str) -> dict[str, Any]:
    """Return the fields that let a pod run on this node alone."""
    affinity = copy.deepcopy(template.get("affinity") or {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    by_node = affinity.setdefault("nodeAffinity", {})
    by_node[_REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"affinity": affinity, "tolerations": _tolerations(template)}


def _node_of(pod: Object) -> str:
    """Return the node that a pod is on, or is meant for."""
    if name := pod.spec.get("nodeName"):
        return str(name)
    for term in PlacementNeeds(pod.spec).terms or ():
        for name in sorted(term.names() or ()):
            return name
    return ""
