"""What a world knows at the instant of a forecast, and one future of it.

A future is a copy of the world in which work ends when similar finished work did, run
by the world's own engine. Arrivals are those that the world knows; with `coming` they
go on as they came.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

import msgspec

from scheduler.analysis.forecast.arrivals import (
    LEAST_BATCHES,
    FittedArrivals,
    arriving,
    fit,
)
from scheduler.analysis.forecast.run_times import RunTime, RunTimes
from scheduler.analysis.forecast.scores import (
    LEVELS,
    MOST_WAITS,
    binomial_bound,
    last_waits,
    quantiles,
)
from scheduler.analysis.forecast.workloads import (
    created_ms,
    elapsed_ms,
    finished_job_ms,
    finished_run_ms,
    jobs_with_workloads,
    queue_of,
    waited_ms,
    waits,
    work_of,
)
from scheduler.engine.kueue.tree.quota import weighted_share
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model import streams
from scheduler.model.amounts import UNLIMITED
from scheduler.model.annotations import RUNTIME
from scheduler.model.decisions import Admit, Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import MARK, Key, Object
from scheduler.model.problems import RequestProblem

#: With fewer finished workloads a forecast says "not enough history".
LEAST_FINISHED = 5
#: Then all run times of one future are off by one factor: at most this, or 1 by this.
MOST_OFF = 4.0

Starts = dict[Key, int]


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


class Future(NamedTuple):
    """What came of one future."""

    starts: Starts  # when (ms) workloads were admitted
    levels: Sequence[Level] = ()  # of `curves_of` its world, at the first instants


Check = Callable[[Sequence[Decision]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastWorld:
    """A world, and what is known of the run times of what is open in it."""

    world: World
    history: RunTimes
    finished: int
    known: Mapping[Key, RunTime]
    coming: FittedArrivals | None

    @property
    def enough(self) -> bool:
        """Return whether there is history to go by."""
        few = self.coming is not None and self.coming.batches < LEAST_BATCHES
        return self.finished >= LEAST_FINISHED and not few


def present_of(world: World, *, continued: bool) -> ForecastWorld:
    """Return the present state of `world`. Raises SchedulerError for a stack without Kueue."""
    check_stack(world.policy.spec.stack)
    world.freshen()
    history, finished = _history(world)
    return ForecastWorld(
        world=world,
        history=history,
        finished=finished,
        known={key: _run_time(world, history, key) for key in _open(world)},
        coming=fit(world) if continued else None,
    )


def check_stack(stack: str) -> None:
    """Raise SchedulerError for a stack without Kueue."""
    if stack != "kueue":
        raise SchedulerError(RequestProblem.WITHOUT_KUEUE.said(stack=stack))


def waiting(world: World) -> list[Key]:
    """Return the Workloads that have come and wait to be admitted."""
    return sorted(
        key
        for key, obj in world.objects.items()
        if waits(obj) and not world.lifetime.waits(key)
    )


def _history(world: World) -> tuple[RunTimes, int]:
    """Return the run times of what finished, oldest first, and of what runs.

    A Job of a dump that was over when it was read counts, too, where its Workload is
    not in the dump.
    """
    history, ended = RunTimes(), []
    queued = jobs_with_workloads(world)
    for ident, (key, obj) in enumerate(sorted(world.objects.items())):
        if key.kind == "Job" and (key.namespace, obj.uid) not in queued:
            if (over := finished_job_ms(world, obj)) is not None:
                ended.append((*over, ident, key))
            continue
        if key.kind != "Workload":
            continue
        if (found := finished_run_ms(world, obj)) is not None:
            ended.append((*found, ident, key))
        elif (elapsed := elapsed_ms(world, key)) is not None:
            history.begin(work_of(world, obj), world.context.now_ms - elapsed)
    for _, run, _, key in sorted(ended):
        history.add(work_of(world, world.objects[key]), run)
    return history, len(ended)


def _open(world: World) -> Iterator[Key]:
    """Yield the Workloads whose run time is not known yet, and the jobs to come."""
    for key, obj in sorted(world.objects.items()):
        if key.kind == "Workload":
            if waits(obj) or elapsed_ms(world, key) is not None:
                yield key
        elif world.lifetime.waits(key) and RUNTIME in obj.annotations:
            yield key


def _run_time(world: World, history: RunTimes, key: Key) -> RunTime:
    elapsed = elapsed_ms(world, key) or 0
    work = work_of(world, world.objects[key])
    return history.given(work, world.context.now_ms, elapsed)


def random_of(present: ForecastWorld, number: int, seed: int) -> Random:
    """Return the random stream of one future: the same number gives the same future."""
    now = str(present.world.context.now_ms)
    return Random(streams.bits(seed, "forecast", now, number))


def future_of(present: ForecastWorld, random: Random, until_ms: int) -> World:
    """Return a copy of the world with the run times and arrivals of one future."""
    draws, copy = Draws(random), fork(present.world)
    factor = _factor(present, random)
    for key, run_time in present.known.items():
        _give(copy, key, round(draws.draw(run_time) * factor))
    if present.coming is not None:
        _let_come(present, copy, draws, factor, until_ms)
    return copy


def _factor(present: ForecastWorld, random: Random) -> float:
    """Return by how much what little is known of run times may be off."""
    if present.finished >= LEAST_FINISHED:
        return 1.0
    return math.exp(random.uniform(-1.0, 1.0) * math.log(MOST_OFF))


def _let_come(
    present: ForecastWorld, copy: World, draws: Draws, factor: float, until_ms: int
) -> None:
    assert present.coming is not None
    world = present.world
    for number, (at, like) in enumerate(present.coming.future(draws.random, until_ms)):
        run_time = present.history.given(
            work_of(world, world.objects[like]), world.context.now_ms
        )
        length = max(round(draws.draw(run_time) * factor), 1)
        name = f"forecast-arrival-{number}"
        copy.put(arriving(world.objects[like], name, at, length))


def starts_in(
    copy: World, wanted: Sequence[Key], until_ms: int, check: Check
) -> Starts:
    """Run a future until all of `wanted` are admitted; return when (ms) each is."""
    awaited = _Awaited(wanted)
    simulate(copy, until_ms=until_ms, stop=awaited.ends, hear=check)
    return awaited.starts


def played(copy: World, wanted: Sequence[Key], horizon_ms: int, check: Check) -> Future:
    """Run a future until all of `wanted` are admitted, and look at it on the way.

    It goes on for a part of its horizon even where all are admitted sooner, so that
    its curves show something.
    """
    begin = copy.context.now_ms
    awaited = _Awaited(wanted, least_ms=begin + horizon_ms // LEAST)
    curves, levels = curves_of(copy), []
    for at in instants(horizon_ms):
        simulate(copy, until_ms=begin + at, stop=awaited.ends, hear=check)
        if not awaited.left and begin + at > awaited.least_ms:
            break
        levels.append(level_of(copy, curves))
    return Future(awaited.starts, levels)


class _Awaited:
    """Hears when workloads are first admitted; all are, and it is late enough: the end."""

    def __init__(self, wanted: Sequence[Key], least_ms: int = 0) -> None:
        self.starts: Starts = {}
        self.left = set(wanted)
        self.least_ms = least_ms

    def ends(self, decision: Decision) -> bool:
        if isinstance(decision, Admit) and decision.subject in self.left:
            self.starts[decision.subject] = decision.at_ms
            self.left.discard(decision.subject)
        return not self.left and decision.at_ms >= self.least_ms


def _give(copy: World, key: Key, length_ms: int) -> None:
    """Let a Workload take so long, from the readiness of its pods, or each of them."""
    run = copy.lifetime.runs.get(key)
    if run is not None and run.active and run.ends_by_pods:
        copy.lifetime.retime(run, length_ms)
        return
    if run is not None and run.active and run.ready_ms is not None:
        run.rounds = None
        run.ends.clear()
        run.ends_ms = max(run.ready_ms + length_ms, copy.context.now_ms + 1)
        copy.lifetime.timers.add(run.ends_ms, Due.FINISH, key, run.attempt)
        return
    metadata = copy.objects[key].manifest["metadata"]
    given = metadata.get("annotations") or {}
    metadata["annotations"] = {**given, RUNTIME: f"{max(length_ms, 1)}ms"}


# ------------------------------------------------------------------------
# Weighted shares and utilisation along futures, and their bands.


#: Instants of a horizon: the n-th is at (n / POINTS)² of it.
POINTS = 60
#: Whatever has started, a future goes on for this part of its horizon.
LEAST = 12
#: ClusterQueues whose share is followed, by name; utilisation counts all of them.
MOST_QUEUES = 60
_BAND = (0.1, 0.5, 0.9)
#: A share that is infinite, as a number between which and others quantiles lie.
_INFINITE = 1e15
_MOST = 1e9

#: Where each curve stands at an instant.
Level = list[float]
Of = Literal["share", "utilisation"]


class Curve(NamedTuple):
    """What is followed: a ClusterQueue's share, or a resource's utilisation in percent."""

    of: Of
    name: str


class CurveBand(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One curve of many futures: three values per instant; None is infinite."""

    of: Of
    name: str
    p10: list[float | None]
    p50: list[float | None]
    p90: list[float | None]


class CurveBands(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How shares and utilisation go on."""

    at_ms: list[int] = []  # virtual ms from now, as far as every future goes
    bands: list[CurveBand] = []


def instants(horizon_ms: int) -> list[int]:
    """Return when a future is looked at: ms after its begin, ascending, 0 first."""
    return sorted({horizon_ms * n * n // POINTS**2 for n in range(POINTS + 1)})


def curves_of(world: World) -> list[Curve]:
    """Return the objects to follow; later arrivals and removals do not change them."""
    queues = _queues(world)
    shares = [Curve("share", queue.name) for queue in queues[:MOST_QUEUES]]
    whole = _sums(queues)[1]
    return [*shares, *(Curve("utilisation", name) for name in sorted(whole))]


def level_of(world: World, curves: Sequence[Curve]) -> Level:
    """Return where each curve stands; 0 of what is gone. Cost: O(quota of all queues)."""
    queues = _queues(world)
    known = {queue.name: queue for queue in queues}
    used, whole = _sums(queues)
    return [
        _share(known.get(name)) if of == "share" else _percent(used[name], whole[name])
        for of, name in curves
    ]


def bands_of(
    curves: Sequence[Curve], levels: Sequence[Sequence[Level]], horizon_ms: int
) -> CurveBands:
    """Return the bands of what each of some futures came to."""
    common = min(map(len, levels), default=0)
    if not common:
        return CurveBands()
    return CurveBands(
        at_ms=instants(horizon_ms)[:common],
        bands=[
            _band(
                curve,
                [[future[at][place] for future in levels] for at in range(common)],
            )
            for place, curve in enumerate(curves)
        ],
    )


def _band(curve: Curve, values: Sequence[Sequence[float]]) -> CurveBand:
    rows = [quantiles(sorted(row), _BAND) for row in values]
    p10, p50, p90 = ([_finite(row[n]) for row in rows] for n in range(3))
    return CurveBand(of=curve.of, name=curve.name, p10=p10, p50=p50, p90=p90)


def _queues(world: World) -> list[ClusterQueue]:
    found = world.kueue.cluster.forest.queues if world.kueue is not None else {}
    return [found[name] for name in sorted(found)]


def _share(queue: ClusterQueue | None) -> float:
    """Return the share as the status shows it, and so every curve of what was."""
    share = 0 if queue is None else weighted_share(queue)
    return _INFINITE if share == UNLIMITED else float(share)


def _sums(queues: Sequence[ClusterQueue]) -> tuple[Counter[str], Counter[str]]:
    """Return used and nominal by resource: of workers' queues where there are any."""
    used: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    workers = [queue for queue in queues if MARK in queue.name]
    for queue in workers or queues:
        for node in queue.resource_nodes.values():
            resource = node.flavor_resource[1]
            used[resource] += node.usage
            whole[resource] += node.nominal
    return used, whole


def _percent(used: int, whole: int) -> float:
    return round(100 * used / whole, 1) if whole else 0.0


def _finite(value: float) -> float | None:
    return round(value, 1) if value < _MOST else None


# ------------------------------------------------------------------------
# What a forecast gave, kept until it is known what came: quantiles, and those of
# baselines.


#: Of one forecast at most so many workloads are kept, drawn by the forecast's seed.
MOST_KEPT = 100


class GivenStart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was forecast of one workload; quantiles at LEVELS, ms from then."""

    workload: str
    queue: str  # its LocalQueue, namespace/name
    at: list[int | None]  # None is beyond the horizon
    last_waits: list[int]  # as the last waits in its queue were; [] where none was
    bound: list[int]  # QBETS' bound on them
    raw: list[int | None] = []  # before it was corrected; [] where it was not


def given_of(present: ForecastWorld, found: Sequence[Future]) -> list[GivenStart]:
    """Return the results of the futures for each pending workload."""
    world = present.world
    waits = last_waits_of(world)
    return [_given(world, key, found, waits) for key in waiting(world)]


def drawn_of(given: list[GivenStart], *, seed: int) -> list[GivenStart]:
    """Return the futures that are kept to be scored later."""
    if len(given) <= MOST_KEPT:
        return given
    places = Random(streams.bits(seed, "forecast", "kept"))
    return [given[n] for n in sorted(places.sample(range(len(given)), MOST_KEPT))]


def last_waits_of(world: World) -> Mapping[str, Sequence[int]]:
    """Return how long the last that were admitted had waited (ms), by LocalQueue."""
    found: dict[str, list[tuple[int, int]]] = {}
    for key, obj in world.objects.items():
        if key.kind == "Workload" and (waited := waited_ms(world, obj)) is not None:
            found.setdefault(queue_of(obj), []).append(waited)
    return {
        queue: [wait for _, wait in sorted(pairs)[-MOST_WAITS:]]
        for queue, pairs in found.items()
    }


def baselines_of(
    world: World, key: Key, waits: Mapping[str, Sequence[int]]
) -> tuple[int, int] | None:
    """Return the median of the last waits in its queue, and QBETS' bound of the p95."""
    last, bound = _baselines(world, world.objects[key], waits)
    at = LEVELS.index
    return (last[at(0.5)], bound[at(0.95)]) if last else None


def _baselines(
    world: World, obj: Object, waits: Mapping[str, Sequence[int]]
) -> tuple[list[int], list[int]]:
    found = waits.get(queue_of(obj), ())
    age = max(world.context.now_ms - created_ms(world, obj), 0)
    if not found:
        return [], []
    return _whole(last_waits(found, age)), _whole(binomial_bound(found, age))


def _given(
    world: World, key: Key, found: Sequence[Future], waits: Mapping[str, Sequence[int]]
) -> GivenStart:
    obj, now = world.objects[key], world.context.now_ms
    starts = sorted(float(one.starts[key] - now) for one in found if key in one.starts)
    beyond = [1e18] * (len(found) - len(starts))
    last, bound = _baselines(world, obj, waits)
    return GivenStart(
        workload=str(key),
        queue=queue_of(obj),
        at=[None if ms > 1e14 else round(ms) for ms in quantiles([*starts, *beyond])],
        last_waits=last,
        bound=bound,
    )


def _whole(values: Iterable[float]) -> list[int]:
    return [math.ceil(value) for value in values]
