"""From sums to the numbers that people compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from scheduler.analysis.measures.fairness import (
    dominant,
    end_of,
    queue_wait,
    queue_waits,
    slowdown_ratio,
    waits_in,
)
from scheduler.analysis.measures.samples import Samples
from scheduler.analysis.measures.subjects import Amounts, Ledger, Shares, Subject
from scheduler.analysis.measures.summary import ClassWait, Summary
from scheduler.analysis.measures.waits import jain
from scheduler.engine.stage import SearchTally
from scheduler.engine.world import World
from scheduler.model import amounts
from scheduler.model.objects import Key

_HOUR_MS = 3_600_000


class MeasuredRun(Protocol):
    """What a report reads of a run."""

    world: World
    limit_ms: int | None
    until_ms: int
    ledger: Ledger
    samples: Samples
    arrivals: dict[Key, int]
    waits: dict[Key, int]
    last_waits: dict[Key, int]
    ends: dict[Key, int]
    useful: dict[Key, int]
    finished: int
    preemptions: int
    evictions: int
    work_lost_ms: int
    lost: Amounts
    restarts: int
    cost_before: float
    searched_before: SearchTally
    last_finish_ms: int

    def subject(self, key: Key) -> Subject:
        """Return the record of a subject."""


def summarise(run: MeasuredRun, scheduling_ms: float | None) -> Summary:
    """Return the run in numbers as of now."""
    queues = queue_waits(run)
    now = run.world.context.now_ms
    spent = run.ledger.spent_until(now)
    every = queue_wait(run, run.arrivals)
    spans = run.samples.unfair_spans()
    spent_on = _searched(run)
    none_or_zero = 0 if run.samples.ticks else None
    return Summary(
        end_ms=now,
        arrived=len(run.arrivals),
        admitted=len(run.waits),
        finished=run.finished,
        waiting=len(run.arrivals) - len(run.waits),
        preemptions=run.preemptions,
        searches=spent_on.searches if spent_on else None,
        candidates_looked_at=spent_on.looked if spent_on else None,
        simulations=spent_on.simulations if spent_on else None,
        evictions=run.evictions,
        wait_mean_ms=every.mean_ms,
        wait_p50_ms=every.p50_ms,
        wait_p95_ms=every.p95_ms,
        wait_max_ms=every.max_ms,
        makespan_ms=_makespan(run),
        work_lost_ms=run.work_lost_ms,
        work_lost=_hours(run.lost),
        restarts=run.restarts,
        goodput=_goodput(run.lost, spent),
        cost=_cost(run),
        utilisation=_utilisation(run, spent, now),
        fragmentation=run.samples.fragmentation(),
        share_error=run.samples.share_error(),
        jain=jain(_dominant(run, spent, now)),
        used_hours={queue: _hours(uses) for queue, uses in sorted(spent.items())},
        nominal_use=_nominal_use(run, spent, now),
        classes=_classes(run),
        within_limit=_within(run, now),
        workloads=every,
        queues=queues,
        slowdown_ratio=slowdown_ratio(queues),
        unfair_spans=len(spans),
        time_to_fair_ms=sum(spans) / len(spans) if spans else none_or_zero,
        time_to_fair_max_ms=max(spans, default=none_or_zero),
        limit_ms=run.limit_ms,
        scheduling_ms=scheduling_ms,
    )


def _cost(run: MeasuredRun) -> float | None:
    """Return what nodes of groups cost since the run began."""
    autoscaling = run.world.autoscaling
    return None if autoscaling is None else autoscaling.cost() - run.cost_before


def _searched(run: MeasuredRun) -> SearchTally | None:
    """Return what searches for victims cost since the run began; None without Kueue."""
    if run.world.kueue is None:
        return None
    return run.world.context.searched.since(run.searched_before)


def _goodput(lost: Amounts, spent: Mapping[str, Amounts]) -> dict[str, float]:
    """Return the share of what was held that no stop threw away."""
    held: Amounts = {}
    for uses in spent.values():
        for resource, amount in uses.items():
            held[resource] = held.get(resource, 0) + amount
    return {
        resource: 1 - lost.get(resource, 0) / amount
        for resource, amount in sorted(held.items())
        if amount
    }


def _makespan(run: MeasuredRun) -> int:
    first = min(run.arrivals.values(), default=run.samples.begin_ms)
    return max(0, run.last_finish_ms - first)


def _hours(spent: Mapping[str, int]) -> dict[str, float]:
    return {
        resource: value / _HOUR_MS / (1000 if resource == amounts.CPU else 1)
        for resource, value in sorted(spent.items())
    }


def _utilisation(run: MeasuredRun, spent: Shares, now: int) -> dict[str, float]:
    capacity = _capacity(run, now)
    return {
        resource: sum(uses.get(resource, 0) for uses in spent.values()) / free
        for resource, free in sorted(capacity.items())
        if free
    }


def _capacity(run: MeasuredRun, now: int) -> dict[str, float]:
    """Return capacity x ms over the run; samples stand for whole ticks."""
    samples = run.samples
    seen = samples.next_ms - samples.begin_ms
    lasted = now - samples.begin_ms
    share = lasted / seen if seen else 0.0
    return {resource: free * share for resource, free in samples.capacity.items()}


def idle_hours(run: MeasuredRun, until_ms: int) -> dict[str, float]:
    """Return the idle capacity up to an instant; units x h per resource.

    What holds now, and the capacity now, count on to the instant.
    """
    samples, spent = run.samples, run.ledger.spent_until(until_ms)
    free = dict(samples.capacity)
    for resource, amount in samples.capacities.capacity.items():
        rest = amount * (until_ms - samples.next_ms)
        free[resource] = free.get(resource, 0) + rest
    for uses in spent.values():
        for resource in free:
            free[resource] -= uses.get(resource, 0)
    return {name: max(0.0, hours) for name, hours in _hours(free).items()}


def _dominant(run: MeasuredRun, spent: Shares, now: int) -> list[float]:
    lasted = max(1, now - run.samples.begin_ms)
    capacities = run.samples.capacities
    capacity = {r: amount * lasted for r, amount in capacities.capacity.items()}
    return [dominant(uses, capacity) for uses in spent.values()]


def _nominal_use(run: MeasuredRun, spent: Shares, now: int) -> dict[str, float]:
    """Return use over nominal quota per class of ClusterQueues, first resource.

    Over the time from the start to the last finish. A queue of no class is a
    class of its own.
    """
    until = run.last_finish_ms or now
    lasted = until - run.samples.begin_ms
    used: dict[str, int] = {}
    nominal: dict[str, int] = {}
    for name, entitled in run.samples.capacities.queues.items():
        if not entitled.own or lasted <= 0:
            continue
        kind = entitled.kind or name
        resource = amounts.CPU if amounts.CPU in entitled.own else min(entitled.own)
        used[kind] = used.get(kind, 0) + spent.get(name, {}).get(resource, 0)
        nominal[kind] = nominal.get(kind, 0) + entitled.own[resource]
    return {k: used[k] / (nominal[k] * lasted) for k in sorted(used) if nominal[k]}


def _classes(run: MeasuredRun) -> dict[str, ClassWait]:
    groups: dict[str, list[Key]] = {}
    for key in run.arrivals:
        groups.setdefault(run.subject(key).priority_class, []).append(key)
    return {name: _class_wait(run, keys) for name, keys in sorted(groups.items())}


def _class_wait(run: MeasuredRun, keys: list[Key]) -> ClassWait:
    waits, end = waits_in(run, keys), end_of(run)
    last = [run.last_waits.get(key, end - run.arrivals[key]) for key in keys]
    return ClassWait(
        count=len(keys) - waits.never_started,
        waiting=waits.never_started,
        mean_ms=waits.mean_ms or 0.0,
        p50_ms=waits.quantile(0.5) or 0.0,
        p95_ms=waits.quantile(0.95) or 0.0,
        max_ms=waits.max_ms or 0.0,
        mean_last_ms=sum(last) / len(last),
    )


def _within(run: MeasuredRun, now: int) -> float | None:
    """Return the share that started within the limit, of those old enough to know."""
    if run.limit_ms is None:
        return None
    known = [
        wait is not None and wait <= run.limit_ms
        for key, arrived in run.arrivals.items()
        if (wait := run.waits.get(key)) is not None or now - arrived > run.limit_ms
    ]
    return sum(known) / len(known) if known else None
