"""A node failed: other places for the pods that stood on it.

Source: docs/semantics/kueue-topology.md#replacement-of-a-failed-node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
    assignment_of,
)
from scheduler.engine.kueue.topology.question import (
    NO_REQUEST,
    Question,
    UnplaceableError,
    ask,
    level_key,
)
from scheduler.engine.kueue.topology.tree import Domain, Leaf, TopologyTree
from scheduler.model.amounts import is_whole
from scheduler.model.problems.problems import Left
from scheduler.model.sentence import Sentence, plain
from scheduler.model.topology import (
    DomainCount,
    Path,
    SliceLayer,
    TopologyAssignment,
    TopologyRequest,
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


# ------------------------------------------------------------------------
# A placement written down level by level: what fits into each domain, and why not
# there.


#: Of one level so many domains are listed, those that are taken first.
MOST_DOMAINS = 24


def describe(
    counts: Counts, question: Question, found: TopologyAssignment | str
) -> list[dict[str, Any]]:
    """Return the levels from the highest down, each with its domains."""
    taken = {} if isinstance(found, str) else _taken(counts, found)
    return [
        _level(counts, question, index, taken)
        for index in range(len(counts.tree.topology.levels))
    ]


def _taken(counts: Counts, found: TopologyAssignment) -> dict[Path, int]:
    """Return how many pods are placed below each domain."""
    below: dict[Path, int] = {}
    for values, pods in found.domains:
        leaf = counts.tree.leaves.get(values)
        for size in range(1, len(leaf.path) + 1) if leaf is not None else ():
            path = leaf.path[:size] if leaf is not None else ()
            below[path] = below.get(path, 0) + pods
    return below


def _level(
    counts: Counts, question: Question, index: int, taken: dict[Path, int]
) -> dict[str, Any]:
    domains = counts.tree.level(index)
    ordered = sorted(
        domains, key=lambda d: (-taken.get(d.path, 0), -counts.of(d).pods, d.path)
    )
    return {
        "level": counts.tree.topology.levels[index],
        "requested": index == question.level,
        "needed": question.count,
        "domains": [
            {
                "path": "/".join(domain.path),
                "fits": counts.of(domain).pods,
                "taken": taken.get(domain.path, 0),
                "said": _why(counts, question, domain, taken),
            }
            for domain in ordered[:MOST_DOMAINS]
        ],
        "more": max(0, len(domains) - MOST_DOMAINS),
    }


def _why(
    counts: Counts, question: Question, domain: Domain, taken: dict[Path, int]
) -> Sentence | None:
    """Return why a domain was left; None where it was taken."""
    if taken.get(domain.path):
        return None
    fits = counts.of(domain).pods
    if fits == 0:
        # Not one pod fits into the domain.
        if not isinstance(domain, Leaf):
            return Left.NOTHING.said()
        short, excluded = counts.short_of(domain), counts.exclusion(domain)
        if short:
            return Left.RESOURCE.said(name=short)
        return plain(excluded) if excluded else Left.NOTHING.said()
    if not taken:
        return Left.FEW.said(fits=fits, count=question.count)
    parent = domain.parent.path if domain.parent is not None else ()
    if parent and not taken.get(parent):
        return Left.ABOVE.said()
    if fits < question.count and domain.level <= question.level:
        return Left.FEW.said(fits=fits, count=question.count)
    return Left.LATER.said()


# ------------------------------------------------------------------------
# Which pod goes to which domain: by rank where all have one, else as they come.


#: Annotation of a pod template: what the first index of its podset is.
INDEX_OFFSET = "kueue.x-k8s.io/pod-index-offset"


class RankedPod(NamedTuple):
    """A pod: its labels, and the domain it stands in once it has lost its gate."""

    name: str
    labels: Mapping[str, str]
    domain: Path | None = None


def domains_for(
    pods: Sequence[RankedPod],
    assignment: TopologyAssignment,
    request: TopologyRequest | None = None,
    *,
    offset: int = 0,
) -> dict[str, Path]:
    """Return the domain of each gated pod, by name; pods without one are left out.

    `offset` is what the first index of the podset is. Ended pods are not given.
    """
    slots = [d.values for d in assignment.domains for _ in range(d.pods)]
    ranks = _ranks(pods, request, len(slots), offset)
    if ranks is not None and all(
        pod.domain is None or slots[ranks[pod.name]] == pod.domain for pod in pods
    ):
        return {pod.name: slots[ranks[pod.name]] for pod in pods if pod.domain is None}
    return _as_they_come(pods, assignment)


def index_offset(template: Mapping[str, Any]) -> int:
    """Return the index of the first pod of a podset, as its template says it.

    What is no whole number counts as 0.
    """
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return _number(annotations.get(INDEX_OFFSET)) or 0


def _ranks(
    pods: Sequence[RankedPod], request: TopologyRequest | None, count: int, offset: int
) -> dict[str, int] | None:
    """Return every pod's rank; None where one has none, or two have the same."""
    if request is None or not request.index_label:
        return None
    ranks: dict[str, int] = {}
    for pod in pods:
        rank = _rank(pod, request, count, offset)
        if rank is None or not 0 <= rank < count:
            return None
        ranks[pod.name] = rank
    return ranks if len(set(ranks.values())) == len(ranks) else None


def _rank(
    pod: RankedPod, request: TopologyRequest, count: int, offset: int
) -> int | None:
    index = _number(pod.labels.get(request.index_label))
    if index is None or index >= offset + count:
        return None
    if not request.sub_group_label:
        return index - offset
    group = _number(pod.labels.get(request.sub_group_label))
    if group is None or not request.sub_groups:
        return None
    size = count // request.sub_groups
    return None if index - offset >= size else index + group * size - offset


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and is_whole(text) else None


def _as_they_come(
    pods: Sequence[RankedPod], assignment: TopologyAssignment
) -> dict[str, Path]:
    standing: dict[Path, int] = {}
    for pod in pods:
        if pod.domain is not None:
            standing[pod.domain] = standing.get(pod.domain, 0) + 1
    gated = iter([pod.name for pod in pods if pod.domain is None])
    found: dict[str, Path] = {}
    for domain in assignment.domains:
        for _ in range(domain.pods - standing.get(domain.values, 0)):
            name = next(gated, None)
            if name is None:
                return found
            found[name] = domain.values
    return found
