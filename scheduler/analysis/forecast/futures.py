"""Many seeded futures of one compact cluster: when each waiting workload starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from scheduler.analysis.forecast.arrivals import Arrivals
from scheduler.analysis.forecast.compact import Claim, CompactRun, CompactState
from scheduler.analysis.forecast.run_times import RunTime
from scheduler.model import streams

_FIRST_OF_FUTURE = 1 << 40
#: Bounds of one forecast's cost, in instants of futures.
MOST_EVENTS = 100_000
MOST_EVENTS_OF_ONE = 10_000
LEAST_FUTURES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FutureArrivals:
    """Arrivals of futures: the process, and what a workload asks of the cluster."""

    arrivals: Arrivals
    claim: Callable[[int], Claim]  # by the `ident` of past work
    runs: Mapping[int, int]  # run times of past work that finished


@dataclass(slots=True, kw_only=True)
class ForecastInstant:
    """The instant that a forecast is made at."""

    state: CompactState  # without what runs: its ends are drawn
    running: list[tuple[Claim, int, RunTime]]  # claim, start, total run time
    waiting: dict[int, RunTime]  # by ident
    coming: FutureArrivals | None = None


class Draws:
    """The run times of one future: work of one family may take equally long."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.drawn: dict[Hashable, list[int]] = defaultdict(list)

    def draw(self, run_time: RunTime) -> int:
        """Return how long a workload runs in this future."""
        before = self.drawn[run_time.family]
        value = None
        if before:
            chance = len(before) / (len(before) + run_time.known + 1.0)
            if self.random.random() < chance:
                value = before[int(self.random.random() * len(before))]
                if value <= run_time.least_ms:
                    value = None
        if value is None:
            value = run_time.draw(self.random)
        before.append(value)
        return value


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


def one_future(
    present: ForecastInstant,
    wanted: frozenset[int],
    number: int,
    *,
    seed: int,
    until_ms: int,
) -> CompactRun:
    """Return one future, run; the same number gives the same one."""
    random = Random(streams.bits(seed, "forecast", str(present.state.now_ms), number))
    draws = Draws(random)
    ends = [
        (started + draws.draw(run_time), claim)
        for claim, started, run_time in present.running
    ]
    runs: dict[int, int] = {}

    def hold(claim: Claim) -> int:
        run_time = present.waiting.get(claim.ident)
        return runs[claim.ident] if run_time is None else draws.draw(run_time)

    run = CompactRun(replace(present.state, running=ends), hold)
    arrivals = _arrivals(present, random, runs, draws, until_ms)
    run.advance(
        arrivals, until_ms=until_ms, wanted=wanted, most_events=MOST_EVENTS_OF_ONE
    )
    return run


def _arrivals(
    present: ForecastInstant,
    random: Random,
    runs: dict[int, int],
    draws: Draws,
    until_ms: int,
) -> Iterator[tuple[int, Claim]]:
    coming = present.coming
    if coming is None:
        return
    open_ = present.waiting | {claim.ident: run for claim, _, run in present.running}
    idents = count(_FIRST_OF_FUTURE)
    for at, like in coming.arrivals.future(random, present.state.now_ms, until_ms):
        ident = next(idents)
        asked = coming.claim(like.ident)
        run = coming.runs.get(like.ident)
        if run is None:
            run = open_[like.ident].draw(random)
        runs[ident] = run
        yield at, Claim(ident, (-like.priority, at, ident), asked.queue, asked.needs)
