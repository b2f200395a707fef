"""One placement: counts, level, descent, and the assignment that comes of it."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from scheduler.engine.kueue.topology import balanced
from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.descent import DomainShare, descend
from scheduler.engine.kueue.topology.levels import NoLevel, find_level
from scheduler.engine.kueue.topology.messages import no_domains, no_fit
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Leaf, TopologyTree
from scheduler.model.topology import DomainCount, TopologyAssignment

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
    return _placed(descend(counts, question, level))


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
