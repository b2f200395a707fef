"""Fair shares: what each queue would have, were capacity handed out by weight alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scheduler.analysis.measures.capacity import Capacity, Entitlement
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.subjects import Amounts
from scheduler.analysis.measures.summary import QueueWait
from scheduler.model.objects import Key


class Stand(NamedTuple):
    """How one queue stands; shares of its tree's capacity, dominant resource."""

    used: float
    wanted: float  # used and waiting
    own: float  # nominal or guaranteed
    weight: float


def dominant(amounts: Mapping[str, int], capacity: Mapping[str, int]) -> float:
    """Return the largest share of any one resource."""
    return max(
        (value / capacity[r] for r, value in amounts.items() if capacity.get(r)),
        default=0.0,
    )


def fair_shares(stands: Sequence[Stand]) -> list[float]:
    """Return the fair share of each queue: its own quota first, the rest by weight.

    No queue gets more than it wants; one of weight 0 gets its own alone. The
    level that the rest is filled up to, per weight, is the same for all that
    want more: Kueue's weighted share, equal for all. O(n log n).
    Source: docs/semantics/kueue.md#dominant-resource-share.
    """
    shares = [min(stand.wanted, stand.own) for stand in stands]
    hungry = sorted(
        ((stand.wanted - share) / stand.weight, n)
        for n, (stand, share) in enumerate(zip(stands, shares, strict=True))
        if stand.weight > 0 and stand.wanted > share
    )
    level = _level(
        [(height, stands[n].weight) for height, n in hungry], 1.0 - sum(shares)
    )
    for height, n in hungry:
        shares[n] += min(height, level) * stands[n].weight
    return shares


def _level(basins: list[tuple[float, float]], water: float) -> float:
    """Return how high water stands in basins of (height, width), lowest first."""
    level, width = 0.0, sum(width for _, width in basins)
    for height, own in basins:
        if water <= 0:
            break
        rise = min(height - level, water / width)
        level += rise
        water -= rise * width
        width -= own
    return level


def share_error(
    capacities: Capacity, used: Mapping[str, Amounts], waiting: Mapping[str, Amounts]
) -> float:
    """Return how much of the cluster is short of where fairness would have it.

    Per cohort tree the sum over queues of what they lack of their fair share;
    of several trees the worst counts. 0 = fair, 1 = somebody else has it all.
    """
    groups: dict[str, list[Stand]] = {}
    for name in dict.fromkeys([*used, *waiting]):
        entitled = capacities.queues.get(name) or Entitlement(group="")
        capacity = capacities.by_group.get(entitled.group)
        if capacity:
            stand = _stand(
                capacity, entitled, used.get(name, {}), waiting.get(name, {})
            )
            groups.setdefault(entitled.group, []).append(stand)
    return max((_error(stands) for stands in groups.values()), default=0.0)


def _stand(
    capacity: Amounts, entitled: Entitlement, used: Amounts, waiting: Amounts
) -> Stand:
    has = wants = own = 0.0
    for resource, whole in capacity.items():
        if whole:
            held = used.get(resource, 0)
            has = max(has, held / whole)
            wants = max(wants, (held + waiting.get(resource, 0)) / whole)
            own = max(own, entitled.own.get(resource, 0) / whole)
    return Stand(has, wants, own, entitled.weight)


def _error(stands: list[Stand]) -> float:
    shares = fair_shares(stands)
    pairs = zip(stands, shares, strict=True)
    return sum(max(0.0, share - stand.used) for stand, share in pairs)


# ------------------------------------------------------------------------
# How the workloads of each queue fared; those that still wait count too.


#: The least time of runs that a slowdown divides by, as in a bounded slowdown: where
#: nothing ran yet, what waits counts against it.
#: Source: Feitelson and Rudolph 1998, "Metrics and Benchmarking for Parallel Job
#: Scheduling", <https://doi.org/10.1007/BFb0053978>
LEAST_RUN_MS = 10_000


def queue_waits(lives: Lives) -> dict[str, QueueWait]:
    """Return a record per queue that anything came for. O(units)."""
    by_queue: dict[str, list[Key]] = {}
    for key, life in lives.units.items():
        if life.came_ms is not None:
            by_queue.setdefault(lives.traits[key].queue, []).append(key)
    return {queue: queue_wait(lives, keys) for queue, keys in sorted(by_queue.items())}


def queue_wait(lives: Lives, keys: Sequence[Key]) -> QueueWait:
    """Return how units that came fared; a wait without a start counts to the end.

    Nothing starts any longer in a world that came to rest, so work that starves must not
    look better than work that is late.
    """
    waits = lives.waits(keys)
    units = [lives.units[key] for key in keys]
    there = sum(one.stretches[-1].to_ms - (one.came_ms or 0) for one in units)
    useful = sum(one.useful_ms for one in units)
    return QueueWait(
        arrived=len(keys),
        started=len(keys) - waits.never_started,
        mean_ms=waits.mean_ms,
        p50_ms=waits.quantile(0.5),
        p95_ms=waits.quantile(0.95),
        max_ms=waits.max_ms,
        slowdown=max(there, LEAST_RUN_MS) / max(useful, LEAST_RUN_MS) if keys else None,
    )


def slowdown_ratio(queues: Mapping[str, QueueWait]) -> float | None:
    """Return the highest slowdown of a queue over the lowest; 1 = all alike.

    A queue of which nothing ran counts too: who starves it is not fair. None
    where work came to fewer than two.
    """
    found = [one.slowdown for one in queues.values() if one.slowdown is not None]
    return max(found) / min(found) if len(found) > 1 else None
