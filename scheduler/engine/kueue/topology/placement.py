"""PodSetPlacement the podsets of a workload: groups together, one after another.

Source: docs/semantics/kueue-topology.md#several-podsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler.engine.kueue.topology.question import (
    NO_REQUEST,
    Question,
    UnplaceableError,
    ask,
)
from scheduler.engine.kueue.topology.search import (
    CountsCache,
    Placed,
    Stand,
    assignment_of,
    place,
)
from scheduler.engine.kueue.topology.tree import Leaf, TopologyTree
from scheduler.model.kueue.topology_gates import TopologyGates
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.topology import TopologyAssignment, TopologyRequest


@dataclass(frozen=True, slots=True)
class PodSetToPlace:
    """One podset in one flavor."""

    name: str
    count: int
    needs: PlacementNeeds
    request: TopologyRequest | None = None
    implied: bool = False


#: By podset: where its pods stand, or why they do not.
Results = dict[str, TopologyAssignment | str]


class PodSetPlacement:
    """The podsets placed in one search; each counts for those after it.

    `end` takes back what was assumed.
    """

    def __init__(
        self, cache: CountsCache, gates: TopologyGates, *, empty: bool = False
    ) -> None:
        self.cache = cache
        self.gates = gates
        self.empty = empty
        self.sharing: Sequence[TopologyTree] = ()  # trees over the same hosts
        self.last_flavor = True  # nothing is placed in another one afterwards
        self.assumed: dict[TopologyTree, dict[Leaf, None]] = {}

    def place(self, tree: TopologyTree, podsets: Sequence[PodSetToPlace]) -> Results:
        """Place podsets of one flavor; the first group that fails ends it."""
        results: Results = {}
        groups = groups_of(podsets)
        for group in groups:
            last = self.last_flavor and group is groups[-1]
            found = self._place_group(tree, group, last=last)
            if isinstance(found, str):
                results.update(dict.fromkeys((part.name for part in group), found))
                break
            results.update(found)
        return results

    def _place_group(
        self, tree: TopologyTree, group: Sequence[PodSetToPlace], *, last: bool
    ) -> dict[str, TopologyAssignment] | str:
        workers, leader = workers_and_leader(group)
        try:
            question = self.question(tree, workers, leader)
        except UnplaceableError as error:
            return str(error)
        placed = self.search(tree, question)
        if isinstance(placed, str):
            return placed
        if not last:
            self.assume_stands(tree, placed.workers, workers.needs)
        found = {workers.name: assignment_of(tree, placed.workers)}
        if leader is not None:
            if not last:
                self.assume_stands(tree, placed.leader, leader.needs)
            found[leader.name] = assignment_of(tree, placed.leader)
        return {part.name: found[part.name] for part in group}

    def question(
        self,
        tree: TopologyTree,
        workers: PodSetToPlace,
        leader: PodSetToPlace | None = None,
    ) -> Question:
        """Return the search for a podset; raises UnplaceableError."""
        return ask(
            workers.request or NO_REQUEST,
            tree.topology,
            workers.needs,
            workers.count,
            implied=workers.implied,
            leader=leader.needs if leader is not None else None,
            tolerations=tree.flavor.tolerations,
            gates=self.gates,
        )

    def search(self, tree: TopologyTree, question: Question) -> Placed | str:
        """Return one placement in the tree as it is now."""
        return place(self.cache.of(tree, question, empty=self.empty), question)

    def assume_stands(
        self, tree: TopologyTree, stands: Iterable[Stand], needs: PlacementNeeds
    ) -> None:
        """Count what was placed for the rest of this search."""
        for stand in stands:
            key = tree.key(stand.leaf.path)
            for other in {tree: None, **dict.fromkeys(self._others(tree))}:
                leaf = other.leaves.get(key)
                if leaf is not None:
                    other.assume(leaf, needs.per_pod, stand.pods)
                    self.assumed.setdefault(other, {})[leaf] = None

    def _others(self, tree: TopologyTree) -> Sequence[TopologyTree]:
        return self.sharing if tree.topology.has_hostname else ()

    def end(self) -> None:
        """Forget what was assumed."""
        for tree, leaves in self.assumed.items():
            tree.forget_assumed(leaves)
        self.assumed.clear()


def groups_of(podsets: Iterable[PodSetToPlace]) -> list[list[PodSetToPlace]]:
    """Return the podsets that are placed together, in order of the first of each."""
    groups: dict[tuple[str, str], list[PodSetToPlace]] = {}
    for part in podsets:
        name = part.request.group if part.request is not None else ""
        key = ("group", name) if name else ("podset", part.name)
        groups.setdefault(key, []).append(part)
    return list(groups.values())


def workers_and_leader(
    group: Sequence[PodSetToPlace],
) -> tuple[PodSetToPlace, PodSetToPlace | None]:
    """Return the podset that sets level and filters of a group, and its leader.

    Source: docs/semantics/kueue-topology.md#leader-and-workers.
    """
    if len(group) < 2:
        return group[0], None
    first, second = group[0], group[1]
    return (second, first) if second.count > first.count else (first, second)
