"""InterPodAffinity: pods that want to be near each other, or apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import Codes, Ints, Mask, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import (
    MAX_SCORE,
    CountingPlugin,
    Event,
    Hint,
)
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    Code,
    CycleState,
    Status,
    unresolvable,
    unschedulable,
)
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod, PodTerm, shape_of
from scheduler.model.registry import register
from scheduler.model.releases.rules import WAKES_KEPT_OUT

NOT_NEAR = "node(s) didn't match pod affinity rules"
NOT_APART = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"

Pairs = dict[str, dict[str, int]]  # topology key -> value -> count (or score)


class InterPodAffinityArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How much a required term of an existing pod is worth in scoring."""

    api_version: str = ""
    kind: str = ""
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


@dataclass(slots=True)
class _Counts:
    """Topology pairs: where the pod is wanted, where it must not be."""

    unwelcome: Pairs = field(default_factory=dict)
    near: Pairs = field(default_factory=dict)
    apart: Pairs = field(default_factory=dict)

    def copy(self) -> _Counts:
        return _Counts(_copied(self.unwelcome), _copied(self.near), _copied(self.apart))


@dataclass(slots=True)
class _Scores:
    pairs: Pairs

    def copy(self) -> _Scores:
        return _Scores(_copied(self.pairs))


@register(
    "plugin",
    "InterPodAffinity",
    label="Pod affinity",
    help="Filters and scores by pod affinity and anti-affinity, of the pod and of "
    "the pods that already have a node.",
    parameters=InterPodAffinityArgs,
)
class InterPodAffinity(CountingPlugin):
    """Source: docs/semantics/kube-scheduler.md#interpodaffinity."""

    name = "InterPodAffinity"
    args_type = InterPodAffinityArgs
    scope = "cluster"

    # --- filter

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether neither this pod nor any on a node has terms."""
        return not (self.handle.cluster.with_terms or pod.shape.has_pod_terms)

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Count the topology pairs of the terms that concern the pod."""
        counts, shape = _Counts(), pod.shape
        for owner, nodes in self.handle.cluster.with_terms.values():
            self._count_owner(counts, pod, owner, self._nodes(nodes))
        if shape.affinity or shape.anti_affinity:
            for other, nodes in _standing(self.handle.cluster):
                self._count_own(counts, pod, other, self._nodes(nodes))
        state.data[self.name] = counts
        if not (counts.unwelcome or shape.affinity or shape.anti_affinity):
            return SKIP, None
        return OK, None

    def _nodes(self, counts: dict[str, int]) -> Iterator[tuple[Node, int]]:
        """Yield the known nodes that pods of one class are on, and how many."""
        node_infos = self.handle.cluster.node_infos
        return (
            (node_infos[name].node, n)
            for name, n in counts.items()
            if name in node_infos
        )

    def _count_owner(
        self, counts: _Counts, pod: Pod, owner: Pod, nodes: Iterable[tuple[Node, int]]
    ) -> None:
        terms = [t for t in owner.shape.anti_affinity if self._concerns(t, owner, pod)]
        if terms:
            for node, number in nodes:
                for term in terms:
                    _count(counts.unwelcome, term, node, number)

    def _count_own(
        self, counts: _Counts, pod: Pod, other: Pod, nodes: Iterable[tuple[Node, int]]
    ) -> None:
        near = pod.shape.affinity
        if not all(self._concerns(term, pod, other) for term in near):
            near = ()
        apart = [t for t in pod.shape.anti_affinity if self._concerns(t, pod, other)]
        if near or apart:
            for node, number in nodes:
                for term in near:
                    _count(counts.near, term, node, number)
                for term in apart:
                    _count(counts.apart, term, node, number)

    def _concerns(self, term: PodTerm, owner: Pod, other: Pod) -> bool:
        return concerns(term, owner, other, self.handle.cluster)

    def count(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo, by: int
    ) -> None:
        """Count the terms of a pod that comes to a node or goes."""
        counts = state.data[self.name]
        assert isinstance(counts, _Counts)
        self._count_owner(counts, pod, other, [(node_info.node, by)])
        self._count_own(counts, pod, other, [(node_info.node, by)])

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject by own affinity, own anti-affinity, then that of others."""
        counts, labels = state.data[self.name], node_info.node.labels
        assert isinstance(counts, _Counts)
        if not self._is_near(counts, pod, labels):
            return unresolvable(NOT_NEAR)
        for term in pod.shape.anti_affinity:
            if _at(counts.apart, term.topology_key, labels) > 0:
                return unschedulable(NOT_APART)
        if any(_at(counts.unwelcome, key, labels) > 0 for key in counts.unwelcome):
            return unschedulable(UNWELCOME)
        return OK

    def _is_near(self, counts: _Counts, pod: Pod, labels: dict[str, str]) -> bool:
        terms = pod.shape.affinity
        if any(term.topology_key not in labels for term in terms):
            return False
        if all(_at(counts.near, term.topology_key, labels) > 0 for term in terms):
            return True
        return self._is_first(counts, pod)

    def _is_first(self, counts: _Counts, pod: Pod) -> bool:
        """Return whether nobody is there to be near to and the pod fits itself."""
        return not counts.near and all(
            self._concerns(term, pod, pod) for term in pod.shape.affinity
        )

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Do the same for rows, a topology value at a time."""
        counts = state.data[self.name]
        assert isinstance(counts, _Counts)
        bad: Mask = view.full(0, np.bool_)
        for term in pod.shape.anti_affinity:
            bad |= _rows(counts.apart, term.topology_key, view) > 0
        for key in counts.unwelcome:
            bad |= _rows(counts.unwelcome, key, view) > 0
        codes = bad.astype(np.int8) * np.int8(Code.UNSCHEDULABLE)
        codes[~self._near_rows(counts, pod, view)] = Code.UNRESOLVABLE
        return codes

    def _near_rows(self, counts: _Counts, pod: Pod, view: View) -> Mask:
        labelled: Mask = view.full(1, np.bool_)
        met: Mask = view.full(1, np.bool_)
        for term in pod.shape.affinity:
            key = term.topology_key
            labelled &= view.by_label(key, lambda value: value is not None, np.bool_)
            met &= _rows(counts.near, key, view) > 0
        if pod.shape.affinity and self._is_first(counts, pod):
            return labelled
        return labelled & met

    # --- score

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Add up what each topology pair is worth; skip when there is none."""
        shape, pairs = pod.shape, Pairs()
        own = [(term, 1) for term in shape.preferred_affinity]
        own += [(term, -1) for term in shape.preferred_anti_affinity]
        if self.args.ignore_preferred_terms_of_existing_pods and not own:
            return SKIP
        if own:
            for other, nodes in _standing(self.handle.cluster):
                worth = [
                    (term, sign * term.weight)
                    for term, sign in own
                    if self._concerns(term, pod, other)
                ]
                self._add_worth(pairs, worth, nodes)
        for owner, nodes in self.handle.cluster.with_terms.values():
            self._add_worth(pairs, self._owned_worth(pod, owner), nodes)
        if not pairs:
            return SKIP
        state.data[f"{self.name}/score"] = _Scores(pairs)
        return OK

    def _owned_worth(self, pod: Pod, owner: Pod) -> list[tuple[PodTerm, int]]:
        """Return the terms of a standing pod that are about this one, and their worth."""
        hard = self.args.hard_pod_affinity_weight
        worth = [(t, hard) for t in owner.shape.affinity if hard > 0]
        worth += [(t, t.weight) for t in owner.shape.preferred_affinity]
        worth += [(t, -t.weight) for t in owner.shape.preferred_anti_affinity]
        return [(t, weight) for t, weight in worth if self._concerns(t, owner, pod)]

    def _add_worth(
        self, pairs: Pairs, worth: list[tuple[PodTerm, int]], nodes: dict[str, int]
    ) -> None:
        if worth:
            for node, number in self._nodes(nodes):
                for term, weight in worth:
                    _score(pairs, term, node, number * weight)

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the sum of the scores of the node's topology pairs."""
        scores = state.data[f"{self.name}/score"]
        assert isinstance(scores, _Scores)
        return sum(
            _at(scores.pairs, key, node_info.node.labels) for key in scores.pairs
        )

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return the same for rows."""
        scores = state.data[f"{self.name}/score"]
        assert isinstance(scores, _Scores)
        total: Ints = view.full(0)
        for key in scores.pairs:
            total += _rows(scores.pairs, key, view)
        return total

    def normalize(self, state: CycleState, pod: Pod, view: View, raw: Ints) -> Ints:
        """Stretch from lowest to highest over 0..100; all equal is 0."""
        low, high = int(raw.min()), int(raw.max())
        if low == high:
            return np.zeros(len(raw), dtype=np.int64)
        share = (raw - low).astype(np.float64) / float(high - low)
        return (float(MAX_SCORE) * share).astype(np.int64)

    # --- queue

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a pod that matters came or went, or a node."""
        return {
            plugin.POD_ADDED: self._matters,
            plugin.POD_CHANGED: self._matters,
            plugin.POD_DELETED: self._matters,
            plugin.NODE_ADDED: None,
            plugin.NODE_CHANGED: _labels_changed,
        }

    def _matters(self, pod: Pod, event: Event) -> bool:
        other = event.pod
        own: tuple[PodTerm, ...] = pod.shape.anti_affinity
        if event.name != plugin.POD_DELETED:
            own = pod.shape.affinity
        if any(self._concerns(term, pod, other) for term in own):
            return True
        if event.name == plugin.POD_ADDED:
            return False
        decides_as = self.handle.context.decides_as
        if event.name == plugin.POD_DELETED and not WAKES_KEPT_OUT.holds(decides_as):
            return False
        return any(self._concerns(t, other, pod) for t in other.shape.anti_affinity)


def _labels_changed(pod: Pod, event: Event) -> bool:
    before = event.old_node
    return before is None or before.labels != event.node.labels


_NO_SHAPE = shape_of({}, {})


def concerns(term: PodTerm, owner: Pod, other: Pod, cluster: ClusterCache) -> bool:
    """Return whether a term of `owner` is about `other`."""
    selector = term.selector
    if term.match_keys or term.mismatch_keys:
        selector = selector.also(owner.labels, term.match_keys, "In")
        selector = selector.also(owner.labels, term.mismatch_keys, "NotIn")
    if not selector.matches(other.labels):
        return False
    if not term.namespaces and term.namespace_selector is None:
        return other.namespace == owner.namespace
    if other.namespace in term.namespaces:
        return True
    wide = term.namespace_selector
    return wide is not None and wide.matches(cluster.namespace_labels(other.namespace))


def _standing(cluster: ClusterCache) -> Iterator[tuple[Pod, dict[str, int]]]:
    """Yield one pod of each label class, and how many are on which node."""
    for (namespace, labels, _), nodes in cluster.by_labels.items():
        key = Key("Pod", namespace, "")
        yield Pod(key=key, uid="", labels=dict(labels), shape=_NO_SHAPE), nodes


def _count(pairs: Pairs, term: PodTerm, node: Node, by: int) -> None:
    """Count a pair; one that is back at zero is no pair any longer."""
    value = node.labels.get(term.topology_key)
    if value is None:
        return
    values = pairs.setdefault(term.topology_key, {})
    left = values.get(value, 0) + by
    if left:
        values[value] = left
        return
    values.pop(value, None)
    if not values:
        del pairs[term.topology_key]


def _score(pairs: Pairs, term: PodTerm, node: Node, worth: int) -> None:
    """Add to a pair's score; a pair at zero still is one."""
    value = node.labels.get(term.topology_key)
    if value is not None:
        values = pairs.setdefault(term.topology_key, {})
        values[value] = values.get(value, 0) + worth


def _at(pairs: Pairs, key: str, labels: dict[str, str]) -> int:
    value = labels.get(key)
    return 0 if value is None else pairs.get(key, {}).get(value, 0)


def _rows(pairs: Pairs, key: str, view: View) -> Ints:
    values = pairs.get(key, {})
    return view.by_label(
        key, lambda value: 0 if value is None else values.get(value, 0), np.int64
    )


def _copied(pairs: Pairs) -> Pairs:
    return {key: dict(values) for key, values in pairs.items()}
