"""Which pod goes to which domain: by rank where all have one, else as they come.

Source: docs/semantics/kueue-topology.md#ungating-pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler.model.amounts import is_whole
from scheduler.model.topology import Path, TopologyAssignment, TopologyRequest

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
    pods: Sequence[RankedPod],
    request: TopologyRequest | None,
    count: int,
    offset: int,
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
