"""Who forecasts in a backtest: futures of the policy, similar waits, the last waits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from random import Random

from scheduler.analysis.forecast.run_times import RunTime, WorkloadProfile
from scheduler.analysis.forecast.scores import last_waits, quantiles
from scheduler.model import streams
from tests.backtest.futures import (
    CompactState,
    ForecastInstant,
    FutureArrivals,
    one_future,
)
from tests.backtest.past import Past

#: The rest of each wait (ms) as quantiles at LEVELS.
Rests = dict[int, list[float]]
Model = Callable[[Past, Sequence[int]], Rests]

HORIZON_HOURS = 14 * 24
#: Bounds of one forecast's cost, in instants of futures.
MOST_EVENTS = 100_000
LEAST_FUTURES = 20
_SAMPLES = 200


def by_futures(futures: int, seed: int) -> Model:
    """Return the model that runs the policy on, from what is known."""

    def rests(past: Past, wanted: Sequence[int]) -> Rests:
        now = past.now_ms
        found = starts_of(
            _present(past),
            frozenset(wanted),
            futures=futures,
            seed=seed,
            until_ms=now + round(HORIZON_HOURS * past.log.hour_ms),
        )
        return {
            ident: quantiles([start - now for start in starts])
            for ident, starts in found.items()
        }

    return rests


def _present(past: Past) -> ForecastInstant:
    log, now = past.log, past.now_ms
    known: dict[Hashable, RunTime] = {}

    def given(work: WorkloadProfile) -> RunTime:
        like = (work.user, work.family, work.queue, work.size, work.limit_ms)
        if like not in known:
            known[like] = past.run_times.given(work, now)
        return known[like]

    running = [
        (
            log.claim(ident),
            log.starts[ident],
            past.run_times.given(log.works[ident], now, now - log.starts[ident]),
        )
        for ident in past.running
    ]
    waiting = [log.claim(ident) for ident in past.waiting]
    coming = FutureArrivals(arrivals=past.arrivals, claim=log.claim, runs=past.finished)
    return ForecastInstant(
        state=CompactState(cluster=log.cluster, now_ms=now, waiting=waiting),
        running=running,
        waiting={ident: given(log.works[ident]) for ident in past.waiting},
        coming=None if log.strict else coming,
    )


def by_similar_waits(seed: int) -> Model:
    """Return the model for a policy that is not known: waits of similar work."""

    def rests(past: Past, wanted: Sequence[int]) -> Rests:
        found = {}
        for ident in wanted:
            work = past.log.works[ident]
            age = past.now_ms - work.submit_ms
            random = Random(streams.bits(seed, "wait", str(past.now_ms), ident))
            free = replace(past.wait_times.given(work, past.now_ms, age), limit_ms=None)
            drawn = sorted(free.draw(random) - age for _ in range(_SAMPLES))
            found[ident] = quantiles(drawn)
        return found

    return rests


def by_last_waits(past: Past, wanted: Sequence[int]) -> Rests:
    """Return the rests as the last waits in the same queue were."""
    found = {}
    for ident in wanted:
        work = past.log.works[ident]
        age = past.now_ms - work.submit_ms
        found[ident] = last_waits(past.waits[work.queue], age)
    return found


def starts_of(
    present: ForecastInstant,
    wanted: frozenset[int],
    *,
    futures: int,
    seed: int,
    until_ms: int,
) -> dict[int, list[float]]:
    """Return the start of each wanted workload in each future, in ms, ascending.

    What has not started by `until_ms` counts as starting then. Fewer futures are made
    where each is long: MOST_EVENTS instants in all, but no fewer than LEAST_FUTURES.
    """
    found: dict[int, list[float]] = {ident: [] for ident in wanted}
    events, number = 0, 0
    while number < futures and (events < MOST_EVENTS or number < LEAST_FUTURES):
        run = one_future(present, wanted, number, seed=seed, until_ms=until_ms)
        for ident in wanted:
            found[ident].append(run.starts.get(ident, until_ms))
        events, number = events + run.events, number + 1
    for values in found.values():
        values.sort()
    return found
