"""How the workloads of each queue fared; those that still wait count too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from scheduler.analysis.measures.ledger import Ledger
from scheduler.analysis.measures.subjects import Subject
from scheduler.analysis.measures.summary import QueueWait
from scheduler.analysis.measures.waits import Waits, waits_of
from scheduler.engine.world import World
from scheduler.model.objects import Key

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
