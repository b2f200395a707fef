"""Many seeded futures of one compact cluster: when each waiting workload starts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

from scheduler.analysis.forecast.present import Draws
from scheduler.analysis.forecast.run_times import RunTime
from scheduler.model import streams
from tests.backtest.arrivals import Arrivals

# ------------------------------------------------------------------------
# Many seeded futures of one compact cluster: when each waiting workload starts.


_FIRST_OF_FUTURE = 1 << 40
#: The bound of the cost of one future, in instants.
MOST_EVENTS_OF_ONE = 10_000


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


# ------------------------------------------------------------------------
# A compact cluster: quota as numbers, and the same order of admissions as the engine.


#: (slot, amount): a slot is one flavor and resource of a ClusterQueue.
Needs = tuple[tuple[int, int], ...]
Order = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one workload asks of which ClusterQueue, and its turn there."""

    ident: int
    order: Order
    queue: int
    needs: Needs


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactCluster:
    """Quota per slot, and which ClusterQueues are StrictFIFO."""

    quota: tuple[int, ...]
    strict: tuple[bool, ...]


@dataclass(slots=True, kw_only=True)
class CompactState:
    """Where a cluster stands: what runs until when, what waits. Copied per future."""

    cluster: CompactCluster
    now_ms: int = 0
    running: list[tuple[int, Claim]] = field(default_factory=list)
    waiting: list[Claim] = field(default_factory=list)


class _Pending:
    """The waiting workloads of one ClusterQueue, those of equal needs together."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.heaps: dict[Needs, list[tuple[Order, Claim]]] = {}
        self.fresh: set[Needs] = set()
        self.freed = True

    def add(self, claim: Claim) -> None:
        heap = self.heaps.get(claim.needs)
        if heap is None:
            self.heaps[claim.needs] = heap = []
        heapq.heappush(heap, (claim.order, claim))
        self.fresh.add(claim.needs)


class CompactRun:
    """One future of a compact cluster: events in time, admissions in Kueue's order."""

    def __init__(self, state: CompactState, hold: Callable[[Claim], int]) -> None:
        """`hold` returns for how long an admitted claim keeps its quota, in ms."""
        self.free = list(state.cluster.quota)
        self.hold = hold
        self.now = state.now_ms
        self.starts: dict[int, int] = {}
        self.events = 0
        self._pending = [_Pending(strict=strict) for strict in state.cluster.strict]
        self._ends: list[tuple[int, int, Claim]] = []
        for end, claim in state.running:
            self._take(claim, end)
        for claim in state.waiting:
            self._pending[claim.queue].add(claim)

    def _take(self, claim: Claim, end_ms: int) -> None:
        free = self.free
        for slot, amount in claim.needs:
            free[slot] -= amount
        heapq.heappush(self._ends, (end_ms, claim.ident, claim))

    def advance(
        self,
        arrivals: Iterable[tuple[int, Claim]],
        *,
        until_ms: float,
        wanted: frozenset[int] | None = None,
        most_events: float = math.inf,
    ) -> dict[int, int]:
        """Advance to `until_ms`, until all of `wanted` started, or for `most_events` events.

        `arrivals` are in order of time. Returns the start of each admitted claim.
        """
        coming = iter(arrivals)
        following = next(coming, None)
        left = set(wanted) if wanted is not None else None
        self._settle_all(left)
        while left is None or left:
            at = self._ends[0][0] if self._ends else None
            if following is not None and (at is None or following[0] < at):
                at = following[0]
            if at is None or at > until_ms:
                break
            self.events += 1
            if self.events > most_events:
                break
            self.now = max(at, self.now)
            self._release(at)
            while following is not None and following[0] <= at:
                self._pending[following[1].queue].add(following[1])
                following = next(coming, None)
            self._settle_all(left)
        return self.starts

    def _release(self, at: int) -> None:
        ends, free = self._ends, self.free
        while ends and ends[0][0] <= at:
            claim = heapq.heappop(ends)[2]
            for slot, amount in claim.needs:
                free[slot] += amount
            self._pending[claim.queue].freed = True

    def _settle_all(self, left: set[int] | None) -> None:
        for pending in self._pending:
            if pending.freed or pending.fresh:
                if pending.strict:
                    self._admit_in_turn(pending, left)
                else:
                    self._admit_what_fits(pending, left)
                pending.freed = False
                pending.fresh.clear()

    def _admit_what_fits(self, pending: _Pending, left: set[int] | None) -> None:
        """BestEffortFIFO: in order, what fits; of equal needs none fits after one did not."""
        tried = pending.heaps if pending.freed else pending.fresh
        fits = self._fits
        heads = [(pending.heaps[needs][0], needs) for needs in tried if fits(needs)]
        heapq.heapify(heads)
        while heads:
            (_, claim), needs = heads[0]
            if not fits(needs):
                heapq.heappop(heads)
                continue
            heap = pending.heaps[needs]
            heapq.heappop(heap)
            self._admit(claim, left)
            if heap:
                heapq.heapreplace(heads, (heap[0], needs))
            else:
                del pending.heaps[needs]
                heapq.heappop(heads)

    def _admit_in_turn(self, pending: _Pending, left: set[int] | None) -> None:
        """StrictFIFO: the first in order, until one does not fit."""
        while pending.heaps:
            needs = min(pending.heaps, key=lambda needs: pending.heaps[needs][0][0])
            if not self._fits(needs):
                return
            heap = pending.heaps[needs]
            _, claim = heapq.heappop(heap)
            if not heap:
                del pending.heaps[needs]
            self._admit(claim, left)

    def _fits(self, needs: Needs) -> bool:
        free = self.free
        return all(free[slot] >= amount for slot, amount in needs)

    def _admit(self, claim: Claim, left: set[int] | None) -> None:
        self.starts[claim.ident] = self.now
        self._take(claim, self.now + self.hold(claim))
        if left is not None:
            left.discard(claim.ident)
