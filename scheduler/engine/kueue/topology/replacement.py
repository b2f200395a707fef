"""A node failed: other places for the pods that stood on it.

Source: docs/semantics/kueue-topology.md#replacement-of-a-failed-node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.topology.question import (
    NO_REQUEST,
    UnplaceableError,
    ask,
    level_key,
)
from scheduler.engine.kueue.topology.search import assignment_of
from scheduler.engine.kueue.topology.tree import TopologyTree
from scheduler.model.topology import (
    DomainCount,
    Path,
    SliceLayer,
    TopologyAssignment,
)

Assignments = dict[str, TopologyAssignment]


def stands_on(assignment: TopologyAssignment | None, node: str) -> bool:
    """Return whether an assignment holds pods on a node."""
    return assignment is not None and any(
        domain.values[-1] == node for domain in assignment.domains
    )


def replace_node(
    placement: PodSetPlacement,
    tree: TopologyTree,
    podsets: Sequence[PodSetToPlace],
    current: Assignments,
    node: str,
) -> Results:
    """Return new assignments for the podsets on a failed node, until one fails."""
    results: Results = {}
    for part in podsets:
        if part.count and stands_on(current.get(part.name), node):
            found = _replace(placement, tree, part, current[part.name], node)
            results[part.name] = found
            if isinstance(found, str):
                break
    return results


def _replace(
    placement: PodSetPlacement,
    tree: TopologyTree,
    part: PodSetToPlace,
    before: TopologyAssignment,
    node: str,
) -> TopologyAssignment | str:
    keep = [domain for domain in before.domains if domain.values[-1] != node]
    count = sum(domain.pods for domain in before.domains) - sum(
        domain.pods for domain in keep
    )
    paths: list[tuple[Path, int]] = []
    for domain in keep:
        leaf = tree.leaves.get(domain.values)
        if leaf is None:
            return _stale(domain)
        paths.append((leaf.path, domain.pods))
    layers = _layers_left(part, count)
    within = _within(tree, part, paths, count)
    request = part.request or NO_REQUEST
    if layers != request.layers and within is not None:
        request = replace(request, layers=layers)
        if not layers and not (request.required or request.preferred):
            request = replace(request, unconstrained=True)
    try:
        question = ask(
            request,
            tree.topology,
            part.needs,
            count,
            implied=part.implied,
            tolerations=tree.flavor.tolerations,
            gates=placement.gates,
            within=within,
        )
    except UnplaceableError as error:
        return str(error)
    placed = placement.search(tree, question)
    if isinstance(placed, str):
        return placed
    if not placed.workers:
        return f"cannot find replacement assignment for unhealthy node: {node}"
    placement.assume_stands(tree, placed.workers, part.needs)
    return _merged(tree, keep, assignment_of(tree, placed.workers))


def _stale(domain: DomainCount) -> str:
    return (
        "Cannot replace the node, because the existing topologyAssignment is invalid, "
        f"as it contains the stale domain {domain.values[0]}"
    )


def _layers_left(part: PodSetToPlace, count: int) -> tuple[SliceLayer, ...]:
    """Return the layer that the replaced pods still come in."""
    layers = part.request.layers if part.request is not None else ()
    if not layers or not layers[0].size or count % layers[0].size == 0:
        return layers
    for layer in reversed(layers):
        if layer.size and count % layer.size == 0:
            return (layer,)
    return ()


def _within(
    tree: TopologyTree,
    part: PodSetToPlace,
    keep: Sequence[tuple[Path, int]],
    count: int,
) -> Path | None:
    """Return the domain in which the replacement has to be, if in any."""
    request = part.request or NO_REQUEST
    topology = tree.topology
    key = level_key(request, topology, implied=part.implied)
    level = topology.level_index(key) if key is not None else None
    if level is None or not keep:
        return None
    layers = request.layers
    if layers and layers[0].size and count % layers[0].size:
        return _incomplete(tree, layers, keep, count)
    if request.required:
        return keep[0][0][: level + 1]
    return None


def _incomplete(
    tree: TopologyTree,
    layers: tuple[SliceLayer, ...],
    keep: Sequence[tuple[Path, int]],
    count: int,
) -> Path | None:
    """Return the domain whose slice lost pods."""
    broken = layers[0]
    for layer in layers[1:]:
        if layer.size and count % layer.size:
            broken = layer
    level = tree.topology.level_index(broken.level)
    if level is None:
        return None
    sums: dict[Path, int] = {}
    for path, pods in keep:
        sums[path[: level + 1]] = sums.get(path[: level + 1], 0) + pods
    for path, pods in sums.items():
        if (pods + count) % broken.size == 0:
            return path
    return None


def _merged(
    tree: TopologyTree, keep: Sequence[DomainCount], more: TopologyAssignment
) -> TopologyAssignment:
    counts: dict[Path, int] = {}
    for values, count in (*keep, *more.domains):
        counts[values] = counts.get(values, 0) + count
    ordered = sorted(counts, key=lambda values: tree.leaves[values].path)
    return TopologyAssignment(
        more.levels, tuple(DomainCount(values, counts[values]) for values in ordered)
    )
