"""The two orders of domains, and the closest fit among them.

Source: docs/semantics/kueue-topology.md#orders-of-domains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler.engine.kueue.topology.counts import Count
from scheduler.engine.kueue.topology.tree import Domain

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
) -> Domain:
    """Return the domain with the smallest capacity that is enough, else the first.

    Only those are looked at that score as the first does; without preferred affinity
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
        if capacity >= need and count.leaders >= leaders and not 0 <= least <= capacity:
            best, least = domain, capacity
    return best


def leader_first(
    domains: list[Domain],
    count_of: Numbers,
    need: int,
    leaders: int,
    *,
    slices: bool,
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
