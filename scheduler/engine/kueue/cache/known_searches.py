"""Victims that were found, kept while nothing changes in the tree of their queue.

A workload that waits is nominated in every cycle, and most cycles change other trees
or nothing. A search depends on the preemptor, on what it asks for, and on the tree:
quotas and policies, what is used, who holds it. Where these are as they were, the
search is not made again.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.tree.protocols import FlavorResource
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo

#: Preemptor, its priority and place in line, what it asks for, what is short.
Question = tuple[
    WorkloadInfo,
    int,
    int,
    tuple[tuple[ResourceNode, int], ...],
    frozenset[FlavorResource],
]
#: The targets of each question, and the tally of its search; neither is changed.
Answers = dict[Question, tuple[list[Any], Any]]


class KnownSearches:
    """What searches found, per root, with the state of the tree that it holds for."""

    def __init__(self) -> None:
        self._links = -1
        self._trees: dict[QuotaNode, tuple[list[Any], Answers]] = {}

    def now(self, links: int) -> SearchesNow:
        """Return what is known for as long as usage stays: during nominations.

        `links` counts how often the trees were built; older ones are forgotten.
        """
        if links != self._links:
            self._links = links
            self._trees.clear()
        return SearchesNow(self)

    def of(self, root: QuotaNode) -> Answers | None:
        """Return the answers that hold for the present state of a tree.

        None where the order of victims depends on usage over time.
        Cost: O(queues x resources) of the tree.
        """
        state: list[Any] = []
        for queue in root.subtree() if isinstance(root, Cohort) else _alone(root):
            if queue.admitted.usage_of is not None:
                return None
            state.append(queue.active)
            state.append(queue.admitted.changes)
            state.extend([each.usage for each in queue.resource_nodes.values()])
        kept = self._trees.get(root)
        if kept is not None and kept[0] == state:
            return kept[1]
        answers: Answers = {}
        self._trees[root] = state, answers
        return answers


def _alone(root: QuotaNode) -> tuple[ClusterQueue, ...]:
    assert isinstance(root, ClusterQueue)
    return (root,)


class SearchesNow:
    """Finds the answers of a tree once for all searches on one state of it."""

    def __init__(self, known: KnownSearches) -> None:
        self._known = known
        self._found: dict[QuotaNode, Answers | None] = {}

    def of(self, root: QuotaNode) -> Answers | None:
        """Return the answers that hold now; None where none may be kept."""
        if root not in self._found:
            self._found[root] = self._known.of(root)
        return self._found[root]
