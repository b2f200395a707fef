"""Fair shares: what each queue would have, were capacity handed out by weight alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from scheduler.analysis.measures.capacity import Capacity, Entitlement
from scheduler.analysis.measures.subjects import Amounts, Ledger, Subject
from scheduler.analysis.measures.summary import QueueWait
from scheduler.analysis.measures.waits import Waits, waits_of
from scheduler.engine.world import World
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


class Followed(Protocol):
    """What is read of a run."""

    world: World
    until_ms: int
    ledger: Ledger
    arrivals: dict[Key, int]
    waits: dict[Key, int]
    ends: dict[Key, int]
    useful: dict[Key, int]

    def subject(self, key: Key) -> Subject:
        """Return the record of a subject."""


def queue_waits(run: Followed) -> dict[str, QueueWait]:
    """Return a record per queue that anything arrived for. O(arrivals)."""
    by_queue: dict[str, list[Key]] = {}
    for key in run.arrivals:
        by_queue.setdefault(run.subject(key).queue, []).append(key)
    return {queue: queue_wait(run, keys) for queue, keys in sorted(by_queue.items())}


def queue_wait(run: Followed, keys: Iterable[Key]) -> QueueWait:
    """Return how some subjects fared; a wait without a start counts up to now.

    Where the world came to rest, up to the end that was asked for: nothing starts
    any longer, so work that starves must not look better than work that is late.
    """
    keys = list(keys)
    now = end_of(run)
    waits = waits_in(run, keys)
    there = sum(run.ends.get(key, now) - run.arrivals[key] for key in keys)
    useful = sum(_useful(run, key, now) for key in keys)
    return QueueWait(
        arrived=len(keys),
        started=len(keys) - waits.never_started,
        mean_ms=waits.mean_ms,
        p50_ms=waits.quantile(0.5),
        p95_ms=waits.quantile(0.95),
        max_ms=waits.max_ms,
        slowdown=max(there, LEAST_RUN_MS) / max(useful, LEAST_RUN_MS) if keys else None,
    )


class Waited(Protocol):
    """What is read of a run for its waits."""

    @property
    def world(self) -> World:
        """Return the world that runs."""

    @property
    def until_ms(self) -> int:
        """Return the end that was asked for; 0 for none."""

    @property
    def arrivals(self) -> Mapping[Key, int]:
        """Return when each subject came, in ms."""

    @property
    def waits(self) -> Mapping[Key, int]:
        """Return how long each that started waited to its first start, in ms."""


def end_of(run: Waited) -> int:
    """Return up to when (ms) what never started has waited."""
    return max(run.world.context.now_ms, run.until_ms)


def waits_in(run: Waited, keys: Iterable[Key]) -> Waits:
    """Return the waits of some subjects of a run."""
    return waits_of(
        (
            (arrived := run.arrivals[key], _after(arrived, run.waits.get(key)))
            for key in keys
        ),
        end_of(run),
    )


def _after(arrived_ms: int, wait_ms: int | None) -> int | None:
    return None if wait_ms is None else arrived_ms + wait_ms


def _useful(run: Followed, key: Key, now: int) -> int:
    holding = run.ledger.held.get(key)
    return run.useful.get(key, 0) if holding is None else now - holding.since_ms


def slowdown_ratio(queues: Mapping[str, QueueWait]) -> float | None:
    """Return the highest slowdown of a queue over the lowest; 1 = all alike.

    A queue of which nothing ran counts too: who starves it is not fair. None
    where work came to fewer than two.
    """
    found = [one.slowdown for one in queues.values() if one.slowdown is not None]
    return max(found) / min(found) if len(found) > 1 else None
