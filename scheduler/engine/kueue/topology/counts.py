"""Phase 1: how many pods, slices and leaders every domain could take.

Counts of one kind of pod are kept and follow the tree's log, so that a second
search recounts only what changed meanwhile, and the domains above it.
Source: docs/semantics/kueue-topology.md#phase-1-counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import (
    Domain,
    FreeAmounts,
    Leaf,
    TopologyNode,
    TopologyTree,
)
from scheduler.model.selectors import HARD_EFFECTS, Taint, Toleration, tolerated

_ENDLESS = 2**31 - 1


class Count(NamedTuple):
    """What fits into a domain; `with_leader` where the leader stands there, too."""

    pods: int
    pods_with_leader: int
    slices: int
    slices_with_leader: int
    leaders: int
    score: int = 0


NOTHING = Count(0, 0, 0, 0, 0)


class Counts:
    """The counts of one question on all domains of a tree."""

    def __init__(self, tree: TopologyTree, question: Question, *, empty: bool) -> None:
        self.tree = tree
        self.question = question
        self.empty = empty  # what assignments take is left out
        self.values: dict[Domain, Count] = {}
        self.lowest = len(tree.topology.levels) - 1
        self.scored = (
            question.gates.node_preferences
            and tree.topology.has_hostname
            and bool(question.needs.preferences)
        )
        self._excluded = leaf_filter(question, hostname=tree.topology.has_hostname)
        needs = question.needs
        # Whether a leaf without taints passes, whatever labels it has.
        self._by_taints = question.within is None and (
            not tree.topology.has_hostname
            or (not needs.selector and needs.terms is None)
        )
        self._untainted = not tree.topology.has_hostname
        self._plain = question.leader is None and not question.inner
        self._per_pod = tuple(needs.per_pod.items())
        # What fits on leaves with the same amounts.
        self._of_amounts: dict[FreeAmounts, Count] = {}
        self._at = -1  # place in the tree's log; -1: nothing is counted yet

    def of(self, domain: Domain) -> Count:
        """Return the count of a domain as of the last refresh."""
        return self.values[domain]

    def refresh(self) -> Counts:
        """Follow what changed in the tree; return itself."""
        tree = self.tree
        end = tree.log_start + len(tree.log)
        since = self._at - tree.log_start
        if self._at < 0 or since < 0 or end - self._at > len(tree.leaves):
            self._count_all()
        elif end > self._at:
            self._recount(dict.fromkeys(tree.log[since:]))
        self._at = end
        return self

    def _count_all(self) -> None:
        self.values = {}
        self._of_amounts = {}
        values, known = self.values, self._of_amounts
        leaves = self.tree.leaves.values()
        if not self._by_taints or self.scored:
            for leaf in leaves:
                values[leaf] = self._leaf(leaf)
        else:  # the same, for tens of thousands of leaves
            for leaf in leaves:
                left = leaf.whole if self.empty else leaf.free
                count = None
                if left is not None and (self._untainted or not leaf.tainted):
                    count = known.get(left)
                values[leaf] = self._leaf(leaf) if count is None else count
        for level in range(self.lowest - 1, -1, -1):
            for domain in self.tree.level(level):
                values[domain] = self._sum(domain)

    def _recount(self, changed: Iterable[Domain]) -> None:
        by_level: dict[int, dict[Domain, None]] = {}
        for domain in changed:
            by_level.setdefault(domain.level, {})[domain] = None
        for level in range(self.lowest, -1, -1):
            for domain in by_level.get(level, ()):
                if not self._stands(domain):
                    self.values.pop(domain, None)
                    continue
                if isinstance(domain, Leaf):
                    count = self._leaf(domain)
                else:
                    count = self._sum(domain)
                if self.values.get(domain) != count:
                    self.values[domain] = count
                    if domain.parent is not None and level:
                        by_level.setdefault(level - 1, {})[domain.parent] = None

    def _stands(self, domain: Domain) -> bool:
        parent = domain.parent
        while parent is not None:
            if parent.children.get(domain.path[-1]) is not domain:
                return False
            domain, parent = parent, parent.parent
        return True

    # ---- leaves ----

    def _leaf(self, leaf: Leaf) -> Count:
        sure = self._by_taints and (self._untainted or not leaf.tainted)
        if not sure and self._excluded(leaf):
            return NOTHING
        known = leaf.whole if self.empty else leaf.free
        if known is None:
            known = self.tree.remaining(leaf, empty=self.empty)
        count = self._of_amounts.get(known)
        if count is None:
            count = self._of_amounts[known] = self._fitting(known)
        if self.scored:
            return count._replace(score=preference(self.question, leaf))
        return count

    def _fitting(self, known: FreeAmounts) -> Count:
        question, left = self.question, known.amounts
        pods = with_leader = fitting(left, self._per_pod)
        leaders = 0
        if question.leader is not None:
            needs = question.leader.per_pod
            if fitting(left, needs.items()) >= 1:
                leaders = 1
                rest = {name: left[name] - needs.get(name, 0) for name in left}
                with_leader = fitting(rest, self._per_pod)
        if question.slice_level != self.lowest:
            return Count(pods, with_leader, 0, 0, leaders)
        size = question.size
        return Count(pods, with_leader, pods // size, with_leader // size, leaders)

    # ---- domains above ----

    def _sum(self, domain: Domain) -> Count:
        values = self.values
        counts = [values[child] for child in domain.children.values()]
        return self.combine(domain.level, counts)

    def combine(self, level: int, counts: list[Count], *, inner: bool = True) -> Count:
        """Return the count of a domain from those of its children."""
        question = self.question
        if self._plain:
            pods = with_leader = sum([count[0] for count in counts])
            leaders = slices = slices_with_leader = 0
            if level < question.slice_level:
                slices = slices_with_leader = (
                    pods
                    if question.size == 1 and question.slice_level == self.lowest
                    else sum([count[2] for count in counts])
                )
        else:
            size = question.inner.get(level + 1, 1) if inner else 1
            pods, with_leader, slices, slices_with_leader, leaders = _with_leaders(
                counts, size, leader=question.leader is not None
            )
        if level == question.slice_level:
            slices, slices_with_leader = (
                pods // question.size,
                with_leader // question.size,
            )
        elif level > question.slice_level:
            slices = slices_with_leader = 0
        score = sum([count[5] for count in counts]) if self.scored else 0
        return Count(pods, with_leader, slices, slices_with_leader, leaders, score)

    # ---- why nothing fits ----

    def exclusions(self) -> dict[str, int]:
        """Return how many leaves are left out, by reason.

        Source: docs/semantics/kueue-topology.md#messages-of-a-placement.
        """
        found: dict[str, int] = {}
        for leaf in self.tree.leaves.values():
            reason = self.exclusion(leaf)
            if reason:
                found[reason] = found.get(reason, 0) + 1
        return found

    def exclusion(self, leaf: Leaf) -> str:
        """Return what leaves a leaf out, or ""."""
        short = self.short_of(leaf)
        return f'resource "{short}"' if short else self._excluded(leaf)

    def short_of(self, leaf: Leaf) -> str:
        """Return the first resource that a leaf has too little of for one pod, or "".

        "" also for a leaf that is left out for its labels or taints.
        """
        if self._excluded(leaf) or self.values[leaf].pods:
            return ""
        left = self.tree.remaining(leaf, empty=self.empty).amounts
        short = (n for n, each in sorted(self._per_pod) if left.get(n, 0) < each > 0)
        return next(short, "")


def fitting(left: dict[str, int], per_pod: Iterable[tuple[str, int]]) -> int:
    """Return how often a pod fits into what is left."""
    return max(
        0,
        min(
            (left.get(name, 0) // each if each else _ENDLESS for name, each in per_pod),
            default=_ENDLESS,
        ),
    )


def _with_leaders(
    counts: list[Count], size: int, *, leader: bool
) -> tuple[int, int, int, int, int]:
    """Return pods, slices and leaders of several domains; pods come in `size`s."""
    pods = slices = leaders = 0
    fewer: list[tuple[int, int]] = []  # pods and slices lost where the leader stands
    for count in counts:
        whole = count.pods - count.pods % size
        pods += whole
        slices += count.slices
        leaders = max(leaders, count.leaders)
        if count.leaders or not leader:
            rest = count.pods_with_leader - count.pods_with_leader % size
            fewer.append((whole - rest, count.slices - count.slices_with_leader))
    if not fewer:
        return pods, 0, slices, 0, leaders
    pods_lost = min(lost for lost, _ in fewer)
    slices_lost = min(lost for _, lost in fewer)
    return pods, pods - pods_lost, slices, slices - slices_lost, leaders


# ------------------------------------------------------------------------
# Which leaves a pod may stand on at all: taints, nodeSelector, affinity.


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
