"""PodSetPlacement the podsets of a workload: groups together, one after another.

Source: docs/semantics/kueue-topology.md#several-podsets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scheduler.engine.kueue.topology import balanced
from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.descent import DomainShare, descend
from scheduler.engine.kueue.topology.levels import NoLevel, find_level
from scheduler.engine.kueue.topology.question import (
    NO_REQUEST,
    Question,
    UnplaceableError,
    ask,
)
from scheduler.engine.kueue.topology.tree import Domain, Leaf, TopologyTree
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.node import PODS
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.topology import DomainCount, TopologyAssignment, TopologyRequest


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
        per_pod = needs.per_pod
        if not self.gates.podsets_share_pods:
            per_pod = {name: each for name, each in per_pod.items() if name != PODS}
        for stand in stands:
            key = tree.key(stand.leaf.path)
            for other in {tree: None, **dict.fromkeys(self._others(tree))}:
                leaf = other.leaves.get(key)
                if leaf is not None:
                    other.assume(leaf, per_pod, stand.pods)
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


# ------------------------------------------------------------------------
# One placement: counts, level, descent, and the assignment that comes of it.


_MOST_COUNTS = 24


class Stand(NamedTuple):
    """So many pods on one leaf."""

    leaf: Leaf
    pods: int


class Placed(NamedTuple):
    """Where the pods stand, and the leader, if there is one."""

    workers: tuple[Stand, ...]
    leader: tuple[Stand, ...]


class CountsCache:
    """The counts of the questions asked last, each kept up to date when it is used."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Counts] = OrderedDict()

    def of(self, tree: TopologyTree, question: Question, *, empty: bool) -> Counts:
        """Return the counts of a question on a tree as it is now."""
        identity = (id(tree), empty, *question.identity)
        counts = self._kept.get(identity)
        if counts is None or counts.tree is not tree:
            counts = Counts(tree, question, empty=empty)
            self._kept[identity] = counts
            if len(self._kept) > _MOST_COUNTS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(identity)
        return counts.refresh()


def place(counts: Counts, question: Question) -> Placed | str:
    """Return where the pods stand, or why they do not.

    Source: docs/semantics/kueue-topology.md#the-search.
    """
    if question.gates.balanced and not (question.required or question.unconstrained):
        shares = balanced.place(counts, question)
        if shares is not None:
            return _placed(shares)
    level = find_level(counts, question)
    if level is None:
        return no_domains(counts.tree.topology.levels[question.level])
    if isinstance(level, NoLevel):
        return no_fit(counts, question, level)
    shares = descend(counts, question, level)
    if not shares and question.count:  # releases that do not look for the leader's room
        return no_fit(counts, question, NoLevel(level.level, 0))
    return _placed(shares)


def _placed(shares: list[DomainShare]) -> Placed:
    ordered = sorted(shares, key=lambda share: share.domain.path)
    leaves = [(share, share.domain) for share in ordered]
    return Placed(
        tuple(
            Stand(leaf, share.pods)
            for share, leaf in leaves
            if isinstance(leaf, Leaf) and share.pods
        ),
        tuple(
            Stand(leaf, share.leaders)
            for share, leaf in leaves
            if isinstance(leaf, Leaf) and share.leaders
        ),
    )


def assignment_of(tree: TopologyTree, stands: tuple[Stand, ...]) -> TopologyAssignment:
    """Return the stored form: hostnames alone where those are the lowest level.

    Source: docs/semantics/kueue-topology.md#the-stored-assignment.
    """
    levels = tree.topology.levels
    return TopologyAssignment(
        levels[-1:] if tree.topology.has_hostname else levels,
        tuple(DomainCount(tree.key(leaf.path), count) for leaf, count in stands),
    )


# ------------------------------------------------------------------------
# Why a placement found nothing, in Kueue's words.


def no_domains(level: str) -> str:
    """Return the reason where no node has the level's label."""
    return f"no topology domains at level: {level}"


def no_fit(counts: Counts, question: Question, failed: NoLevel) -> str:
    """Return the reason of a search that failed, with what left nodes out."""
    text = (
        _layers(counts, question, failed)
        if len(question.layers) > 1
        else _single(counts, question, failed)
    )
    left_out = counts.exclusions()
    if not left_out:
        return text
    listed = ", ".join(sorted(f"{what}: {n}" for what, n in left_out.items()))
    return f"{text}. Total nodes: {len(counts.tree.leaves)}; excluded: {listed}"


def _single(counts: Counts, question: Question, failed: NoLevel) -> str:
    name = counts.tree.topology.name
    unit = "pod" if question.size == 1 else "slice"
    if failed.fitting == 0:
        return (
            f'topology "{name}" doesn\'t allow to fit any of '
            f"{question.slices} {unit}(s)"
        )
    return (
        f'topology "{name}" allows to fit only {failed.fitting} out of '
        f"{question.slices} {unit}(s)"
    )


def _layers(counts: Counts, question: Question, failed: NoLevel) -> str:
    domains = counts.tree.level(failed.level)
    most = min(domains, key=lambda d: (-counts.of(d).slices, ",".join(d.path)))
    parts = [f'topology "{counts.tree.topology.name}" doesn\'t allow to fit']
    for layer in question.layers:
        level = counts.tree.topology.levels.index(layer.level)
        fitting = sum(
            counts.of(domain).pods // layer.size for domain in _below(most, level)
        )
        wanted = question.count // layer.size
        parts.append(f"{fitting}/{wanted} slice(s) fit on level {layer.level}")
    return "; ".join(parts)


def _below(domain: Domain, level: int) -> Iterator[Domain]:
    if domain.level == level:
        yield domain
        return
    for child in domain.children.values():
        yield from _below(child, level)
