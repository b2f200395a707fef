"""Phase 2a: the level, and the domains of it, that are to take the pods.

Source: docs/semantics/kueue-topology.md#phase-2-the-level.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.ordering import best_fit, by_capacity, leader_first
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Domain


class Level(NamedTuple):
    """The domains that take the pods together, and their level."""

    level: int
    domains: list[Domain]


class NoLevel(NamedTuple):
    """Where the search ended, and how many pods or slices would fit there."""

    level: int
    fitting: int


def find_level(counts: Counts, question: Question) -> Level | NoLevel | None:
    """Return the domains to fill; None when a level has no domain at all."""
    index = question.level
    while True:
        domains = counts.tree.level(index)
        if not domains:
            return None
        found = _at_level(counts, question, index, domains)
        if found is not None:
            return found
        index -= 1


def _at_level(
    counts: Counts, question: Question, index: int, domains: list[Domain]
) -> Level | NoLevel | None:
    """Return what one level says; None when the one above is to be tried."""
    ordered = by_capacity(
        domains,
        counts.of,
        least_free=question.least_free,
        leaders=question.leaders > 0,
    )
    if question.least_free:
        for domain in ordered:
            if _fits(counts, question, domain):
                return Level(index, [domain])
        if question.required:
            return NoLevel(index, counts.of(ordered[-1]).pods)
    elif _fits(counts, question, ordered[0]):
        return Level(index, [_closest(counts, question, ordered)])
    elif question.required:
        return _later(counts, question, index, ordered)
    if index > 0 and not question.unconstrained:
        return None
    return _several(counts, question, index, ordered)


def _fits(counts: Counts, question: Question, domain: Domain) -> bool:
    count = counts.of(domain)
    return (
        count.slices_with_leader >= question.slices
        and count.leaders >= question.leaders
    )


def _closest(counts: Counts, question: Question, domains: list[Domain]) -> Domain:
    return best_fit(
        domains,
        counts.of,
        question.slices,
        question.leaders,
        slices=True,
    )


def _later(
    counts: Counts, question: Question, index: int, ordered: list[Domain]
) -> Level | NoLevel:
    """Return a domain that preferred affinity had put behind, if it is enough."""
    if counts.scored:
        for at, domain in enumerate(ordered):
            if _fits(counts, question, domain):
                return Level(index, [_closest(counts, question, ordered[at:])])
    return NoLevel(index, counts.of(ordered[0]).slices)


def _several(
    counts: Counts, question: Question, index: int, ordered: list[Domain]
) -> Level | NoLevel:
    """Return as many domains as it takes, those with the leader first."""
    of, least_free, left = counts.of, question.least_free, question.slices
    rest = leader_first(ordered, of, left, question.leaders, slices=True)
    taken: list[Domain] = []
    if question.leaders:
        domain = rest[0]
        if not of(domain).leaders:
            return NoLevel(index, 0)
        if not least_free and of(domain).slices_with_leader >= left:
            domain = best_fit(rest, of, left, 1, slices=True)
        taken.append(domain)
        left -= of(domain).slices_with_leader
        rest = by_capacity(
            sorted(rest[1:], key=lambda domain: domain.path),
            of,
            least_free=least_free,
            leaders=False,
        )
    for at, domain in enumerate(rest):
        if left <= 0:
            break
        if not least_free and of(domain).slices >= left:
            domain = best_fit(rest[at:], of, left, 0, slices=True)
        taken.append(domain)
        left -= of(domain).slices
    if left > 0:
        return NoLevel(index, question.slices - left)
    return Level(index, taken)
