"""Which leaves a pod may stand on at all: taints, nodeSelector, affinity.

Only looked at where the lowest level is the single node.
Source: docs/semantics/kueue-topology.md#filters-of-a-node.
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler.engine.kueue.topology.nodes import TopologyNode
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Leaf
from scheduler.model.selectors import HARD_EFFECTS, Taint, Toleration, tolerated

LeafFilter = Callable[[Leaf], str]


def leaf_filter(question: Question, *, hostname: bool) -> LeafFilter:
    """Return a function that says what excludes a leaf, or ""."""
    inside = question.within
    size = len(inside or ())
    node_test = _node_filter(question) if hostname else None

    def excluded(leaf: Leaf) -> str:
        if node_test is not None:
            reason = node_test(next(iter(leaf.nodes.values())))
            if reason:
                return reason
        if inside is not None and leaf.path[:size] != inside:
            return "topologyDomain"
        return ""

    return excluded


def _node_filter(question: Question) -> Callable[[TopologyNode], str]:
    needs, tolerations = question.needs, question.tolerations
    selector, terms = needs.selector, needs.terms
    known: dict[tuple[Taint, ...], str] = {(): ""}  # by the taints of a node

    def excluded(node: TopologyNode) -> str:
        tainted = known.get(node.taints)
        if tainted is None:
            tainted = known[node.taints] = _untolerated(node.taints, tolerations)
        if tainted:
            return tainted
        labels = node.labels
        for key, value in selector.items():
            if labels.get(key) != value:
                return "nodeSelector"
        if terms is not None:
            own = dict(labels)
            if not any(term.matches(node.name, own) for term in terms):
                return "affinity"
        return ""

    return excluded


def _untolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> str:
    for taint in taints:
        if taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations):
            value = f"={taint.value}" if taint.value else ""
            return f'taint "{taint.key}{value}:{taint.effect}"'
    return ""


def preference(question: Question, leaf: Leaf) -> int:
    """Return the sum of the weights of preferred node affinity that a leaf meets."""
    node = next(iter(leaf.nodes.values()))
    labels = dict(node.labels)
    return sum(
        term.weight
        for term in question.needs.preferences
        if term.matches(node.name, labels)
    )
