"""What a forecast gave, kept until it is known what came: quantiles, and those of baselines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from random import Random

import msgspec

from scheduler.analysis.forecast.baselines import MOST_WAITS, binomial_bound, last_waits
from scheduler.analysis.forecast.present import ForecastWorld, Future, waiting
from scheduler.analysis.forecast.scores import LEVELS, quantiles
from scheduler.analysis.forecast.workloads import created_ms, queue_of, waited_ms
from scheduler.engine.world import World
from scheduler.model import streams
from scheduler.model.objects import Key, Object

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
    world: World,
    key: Key,
    found: Sequence[Future],
    waits: Mapping[str, Sequence[int]],
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
