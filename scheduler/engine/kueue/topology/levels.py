"""Phase 2a: the level, and the domains of it, that are to take the pods.

Source: docs/semantics/kueue-topology.md#phase-2-the-level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scheduler.engine.kueue.topology.counts import Count, Counts
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
        domains, counts.of, least_free=question.least_free, leaders=question.leaders > 0
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
    if question.least_free and not question.gates.leader_room:
        return count.slices >= question.slices
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
        room=question.gates.leader_room,
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
    room = question.gates.leader_room
    rest = ordered
    if room:
        rest = leader_first(ordered, of, left, question.leaders, slices=True)
    taken: list[Domain] = []
    if question.leaders:
        domain = rest[0]
        if not of(domain).leaders:
            return NoLevel(index, 0)
        if not least_free and of(domain).slices_with_leader >= left:
            domain = best_fit(rest, of, left, 1, slices=True, room=room)
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


# ------------------------------------------------------------------------
# The two orders of domains, and the closest fit among them.


Numbers = Callable[[Domain], Count]
_FEW = 48


def by_capacity(
    domains: Sequence[Domain], count_of: Numbers, *, least_free: bool, leaders: bool
) -> list[Domain]:
    """Return domains, given in order of path, in the order in which they are taken.

    With `leaders`, those that can take the leader come first and capacity is what
    is left beside it. Domains with equal counts are grouped before sorting: of
    thousands of hosts there are few kinds.
    """
    sign = 1 if least_free else -1

    def rank(count: Count) -> tuple[int, ...]:
        if leaders:
            return (
                -count.leaders,
                -count.score,
                sign * count.slices_with_leader,
                count.pods_with_leader,
            )
        return (-count.score, sign * count.slices, count.pods)

    if len(domains) < _FEW:
        return sorted(domains, key=lambda domain: rank(count_of(domain)))
    kinds: dict[Count, list[Domain]] = {}
    for domain in domains:
        count = count_of(domain)
        known = kinds.get(count)
        if known is None:
            kinds[count] = [domain]
        else:
            known.append(domain)
    ranked: dict[tuple[int, ...], list[list[Domain]]] = {}
    for count, alike in kinds.items():
        ranked.setdefault(rank(count), []).append(alike)
    ordered: list[Domain] = []
    for key in sorted(ranked):
        groups = ranked[key]
        if len(groups) == 1:
            ordered += groups[0]
        else:
            ordered += sorted(
                (domain for group in groups for domain in group),
                key=lambda domain: domain.path,
            )
    return ordered


def best_fit(
    domains: Sequence[Domain],
    count_of: Numbers,
    need: int,
    leaders: int,
    *,
    slices: bool,
    room: bool = True,
) -> Domain:
    """Return the domain with the smallest capacity that is enough, else the first.

    With `room` it has room for the leader. Only those are looked at that score as the first does; without preferred affinity
    all do.
    """
    unit = (2 if slices else 0) + (1 if leaders else 0)
    first = domains[0]
    score = count_of(first).score
    best, least = first, -1
    for domain in domains:
        count = count_of(domain)
        if count.score != score:
            break
        capacity = count[unit]
        led = not room or count.leaders >= leaders
        if capacity >= need and led and not 0 <= least <= capacity:
            best, least = domain, capacity
    return best


def leader_first(
    domains: list[Domain], count_of: Numbers, need: int, leaders: int, *, slices: bool
) -> list[Domain]:
    """Move the first domain to the front that takes the leader and leaves enough.

    Source: docs/semantics/kueue-topology.md#leader-and-workers.
    """
    if not leaders or len(domains) < 2:
        return domains
    unit = 2 if slices else 0
    have = sum(count_of(domain)[unit] for domain in domains)
    for index, domain in enumerate(domains):
        count = count_of(domain)
        if count.leaders >= leaders and have - (count[unit] - count[unit + 1]) >= need:
            return [domain, *domains[:index], *domains[index + 1 :]]
    return domains
