"""Phase 2b: from the chosen domains down to the leaves.

Source: docs/semantics/kueue-topology.md#phase-2-the-descent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from scheduler.engine.kueue.topology.counts import Count, Counts
from scheduler.engine.kueue.topology.levels import (
    Level,
    Numbers,
    best_fit,
    by_capacity,
    leader_first,
)
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Domain


class CountView(Protocol):
    """Counts of a tree, or a view of them with some domains struck out."""

    def of(self, domain: Domain) -> Count:
        """Return the count of a domain."""


class DomainShare(NamedTuple):
    """What one domain is to take."""

    domain: Domain
    pods: int
    leaders: int


def descend(counts: Counts, question: Question, level: Level) -> list[DomainShare]:
    """Return the leaves and what each takes; those with no pods may be among them."""
    of = counts.of
    shares = fewest(
        level.domains,
        of,
        question,
        question.count,
        question.leaders,
        question.size,
        slices=True,
    )
    for index in range(level.level, counts.lowest):
        if index < question.slice_level:
            shares = _anew(counts, question, shares)
        else:
            size = question.inner.get(index + 1, 1)
            shares = each_alone(counts, question, shares, size)
    return shares


def _anew(
    counts: Counts, question: Question, shares: list[DomainShare]
) -> list[DomainShare]:
    """Spread all pods over the children of all domains, whoever had how many."""
    parents = sorted(share.domain.path for share in shares)
    by_path = {share.domain.path: share.domain for share in shares}
    children = [
        child for path in dict.fromkeys(parents) for child in by_path[path].in_order()
    ]
    return fewest(
        _ordered(counts, question, children),
        counts.of,
        question,
        question.count,
        question.leaders,
        question.size,
        slices=True,
    )


def each_alone(
    counts: CountView, question: Question, shares: list[DomainShare], size: int
) -> list[DomainShare]:
    """Spread what each domain got over its own children, in pieces of `size`."""
    found: list[DomainShare] = []
    numbers: Numbers = counts.of if size == 1 else _in_pieces(counts.of, size)
    for share in shares:
        children = _ordered(counts, question, share.domain.in_order())
        found += fewest(
            children,
            numbers,
            question,
            share.pods,
            share.leaders,
            size,
            slices=size > 1,
        )
    return found


def _ordered(
    counts: CountView, question: Question, domains: Sequence[Domain]
) -> list[Domain]:
    return by_capacity(
        domains, counts.of, least_free=question.least_free, leaders=False
    )


def _in_pieces(of: Numbers, size: int) -> Numbers:
    def count(domain: Domain) -> Count:
        known = of(domain)
        return known._replace(
            slices=known.pods // size, slices_with_leader=known.pods_with_leader // size
        )

    return count


def fewest(
    domains: list[Domain],
    of: Numbers,
    question: Question,
    pods: int,
    leaders: int,
    size: int,
    *,
    slices: bool,
) -> list[DomainShare]:
    """Return the shortest beginning of the list that is enough, and what each takes.

    The last one is the closest fit among those left. Nothing is returned when the
    list is not enough: counting has ruled that out but for releases in which the leader
    may take the room of its workers (topology-leader-room).
    Source: docs/semantics/kueue-topology.md#the-fewest-domains.
    """
    unit = 2 if slices else 0
    left = pods // size
    keeps_room = question.gates.leader_room
    if keeps_room:
        domains = leader_first(domains, of, left, leaders, slices=slices)
    found: list[DomainShare] = []
    for at, domain in enumerate(domains):
        count = of(domain)
        room = count[unit + 1] if leaders else count[unit]
        if room >= left and count.leaders >= leaders:
            if not question.least_free:
                domain = best_fit(
                    domains[at:], of, left, leaders, slices=slices, room=keeps_room
                )
            found.append(DomainShare(domain, left * size, leaders))
            return found
        took, led = min(room, left), min(count.leaders, leaders)
        found.append(DomainShare(domain, took * size, led))
        left, leaders = left - took, leaders - led
    return []
