"""Kueue's placement vectors: one topology, its nodes, the podsets of one workload.

Source: docs/semantics/kueue-topology.md#the-search.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.topology.placement import (
    CountsCache,
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.topology.replacement import replace_node
from scheduler.engine.kueue.topology.tree import (
    TopologyTree,
    read_other_pod,
    read_topology_node,
)
from scheduler.model.amounts import canonical
from scheduler.model.kueue.feature_gates import read_gates
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.quota import read_flavor
from scheduler.model.topology import (
    TopologyAssignment,
    read_topology,
    read_topology_assignment,
    read_topology_request,
)
from tests.conformance.compare import differences

Vector = dict[str, Any]


def handles(vector: Vector) -> bool:
    """Return whether this is a vector of placement alone."""
    return vector.get("mode") == "tas-place"


def run(vector: Vector) -> list[str]:
    """Return the differences between Kueue's assignment and ours."""
    expected, actual = show(vector)
    return differences(expected, actual)


def show(vector: Vector) -> tuple[object, object]:
    """Return what is compared: expected and actual, by podset."""
    return vector["expect"], decide(vector)


def decide(vector: Vector) -> dict[str, Any]:
    """Return where our engine puts the podsets of a vector."""
    given = vector["place"]
    tree = tree_of(given)
    placement = PodSetPlacement(
        CountsCache(),
        read_gates(vector["gates"]),
        empty=bool(given.get("simulateEmpty")),
    )
    return _written(_placed(placement, tree, given))


def tree_of(given: Vector) -> TopologyTree:
    """Return the tree of a vector, with what stands in it."""
    others: dict[str, dict[str, int]] = {}
    for manifest in given["pods"]:
        pod = read_other_pod(manifest, manifest.get("status") or {})
        if pod is not None:
            taken = others.setdefault(pod.node, {})
            for name, amount in pod.takes.items():
                taken[name] = taken.get(name, 0) + amount
    tree = TopologyTree(
        read_topology(given["topology"]), read_flavor(given["flavor"]), others
    )
    for manifest in given["nodes"]:
        tree.put_node(read_topology_node(manifest, manifest.get("status") or {}))
    for row in given["usage"]:
        total = {name: canonical(name, text) for name, text in row["total"].items()}
        tree.add_usage(tuple(row["values"]), total, 1)
    return tree


def podsets_of(given: Vector) -> list[PodSetToPlace]:
    """Return the podsets of a vector in the order in which they are placed."""
    specs = {item["name"]: item for item in given["workload"]["spec"]["podSets"]}
    return [
        PodSetToPlace(
            row["name"],
            row["count"],
            PlacementNeeds(specs[row["name"]]["template"]["spec"]),
            read_topology_request(specs[row["name"]].get("topologyRequest")),
            bool(row.get("implied")),
        )
        for row in given["requests"]
    ]


def _placed(placement: PodSetPlacement, tree: TopologyTree, given: Vector) -> Results:
    podsets = podsets_of(given)
    status = given["workload"].get("status") or {}
    failed = status.get("unhealthyNodes") or ()
    if not failed:
        return placement.place(tree, podsets)
    current: dict[str, TopologyAssignment] = {}
    for row in status["admission"]["podSetAssignments"]:
        known = read_topology_assignment(row.get("topologyAssignment"))
        if known is not None:
            current[row["name"]] = known
    return replace_node(placement, tree, podsets, current, failed[0]["name"])


def _written(results: Results) -> dict[str, Any]:
    return {
        name: {"reason": found} if isinstance(found, str) else found.expanded()
        for name, found in results.items()
    }
