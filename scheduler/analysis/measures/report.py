"""From sums to the numbers that people compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from scheduler.analysis.measures.fairness import (
    dominant,
    queue_wait,
    queue_waits,
    slowdown_ratio,
)
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.samples import Samples
from scheduler.analysis.measures.subjects import Amounts, Ledger, Shares
from scheduler.analysis.measures.summary import ClassWait, Summary
from scheduler.analysis.measures.units import Life
from scheduler.analysis.measures.verdict import lost_of, totals_of
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
    cost_before: float
    searched_before: SearchTally


class Sharing(NamedTuple):
    """What a run says of shares and of work thrown away; as in a `Summary`."""

    goodput: dict[str, float]
    share_error: float | None
    jain: float | None
    unfair_spans: int
    time_to_fair_ms: float | None
    time_to_fair_max_ms: int | None


def sharing_of(run: MeasuredRun, lives: Lives) -> Sharing:
    """Return the part of `summarise` that tells of shares. O(lives)."""
    now = run.world.context.now_ms
    spent, spans = run.ledger.spent_until(now), run.samples.unfair_spans()
    none_or_zero = 0 if run.samples.ticks else None
    return Sharing(
        goodput=_goodput(lost_of(lives, lives.units, since_ms=lives.from_ms), spent),
        share_error=run.samples.share_error(),
        jain=jain(_dominant(run, spent, now)),
        unfair_spans=len(spans),
        time_to_fair_ms=sum(spans) / len(spans) if spans else none_or_zero,
        time_to_fair_max_ms=max(spans, default=none_or_zero),
    )


def summarise(run: MeasuredRun, lives: Lives, scheduling_ms: float | None) -> Summary:
    """Return the run in numbers as of now, and of its lives."""
    queues = queue_waits(lives)
    now = run.world.context.now_ms
    spent = run.ledger.spent_until(now)
    came = [key for key, one in lives.units.items() if one.came_ms is not None]
    every, sums = queue_wait(lives, came), totals_of(lives)
    spent_on = _searched(run)
    return Summary(
        end_ms=now,
        arrived=every.arrived,
        admitted=every.started,
        finished=sums.finished,
        waiting=every.arrived - every.started,
        preemptions=sums.preemptions,
        searches=spent_on.searches if spent_on else None,
        candidates_looked_at=spent_on.looked if spent_on else None,
        simulations=spent_on.simulations if spent_on else None,
        evictions=sums.evictions,
        wait_mean_ms=every.mean_ms,
        wait_p50_ms=every.p50_ms,
        wait_p95_ms=every.p95_ms,
        wait_max_ms=every.max_ms,
        makespan_ms=_makespan(lives, sums.last_end_ms or 0),
        work_lost_ms=sums.work_lost_ms,
        work_lost=_hours(lost_of(lives, lives.units)),
        restarts=sum(one.restarts for one in lives.units.values()),
        cost=_cost(run),
        utilisation=_utilisation(run, spent, now),
        fragmentation=run.samples.fragmentation(),
        used_hours={queue: _hours(uses) for queue, uses in sorted(spent.items())},
        nominal_use=_nominal_use(run, spent, sums.last_end_ms or now),
        classes=_classes(lives, came),
        within_limit=_within(lives, came, run.limit_ms),
        workloads=every,
        queues=queues,
        slowdown_ratio=slowdown_ratio(queues),
        limit_ms=run.limit_ms,
        scheduling_ms=scheduling_ms,
        **sharing_of(run, lives)._asdict(),
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


def _goodput(lost: Mapping[str, int], spent: Mapping[str, Amounts]) -> dict[str, float]:
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


def _makespan(lives: Lives, last_end_ms: int) -> int:
    came = (one.came_ms for one in lives.units.values() if one.came_ms is not None)
    return max(0, last_end_ms - max(lives.from_ms, min(came, default=0)))


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


def _nominal_use(run: MeasuredRun, spent: Shares, until: int) -> dict[str, float]:
    """Return use over nominal quota per class of ClusterQueues, first resource.

    Over the time from the start to the last finish. A queue of no class is a
    class of its own.
    """
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


def _classes(lives: Lives, came: Sequence[Key]) -> dict[str, ClassWait]:
    groups: dict[str, list[Key]] = {}
    for key in came:
        groups.setdefault(lives.traits[key].priority_class, []).append(key)
    return {name: _class_wait(lives, keys) for name, keys in sorted(groups.items())}


def _class_wait(lives: Lives, keys: list[Key]) -> ClassWait:
    waits = lives.waits(keys)
    last = [_to_last_start(lives.units[key], lives.to_ms) for key in keys]
    return ClassWait(
        count=len(keys) - waits.never_started,
        waiting=waits.never_started,
        mean_ms=waits.mean_ms or 0.0,
        p50_ms=waits.quantile(0.5) or 0.0,
        p95_ms=waits.quantile(0.95) or 0.0,
        max_ms=waits.max_ms or 0.0,
        mean_last_ms=sum(last) / len(last),
    )


def _to_last_start(life: Life, end_ms: int) -> int:
    starts = [one.to_ms for one in life.stretches if one.end == "starts"]
    return (starts[-1] if starts else end_ms) - (life.came_ms or 0)


def _within(lives: Lives, came: Sequence[Key], limit_ms: int | None) -> float | None:
    """Return the share that started within the limit, of those old enough to know."""
    if limit_ms is None:
        return None
    known = []
    for life in map(lives.units.__getitem__, came):
        started = life.started_ms
        wait = (lives.to_ms if started is None else started) - (life.came_ms or 0)
        if started is not None or wait > limit_ms:
            known.append(wait <= limit_ms)
    return sum(known) / len(known) if known else None
