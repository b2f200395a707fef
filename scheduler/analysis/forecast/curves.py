"""Weighted shares and utilisation along futures, and their bands.

Each future is looked at at the same instants, close together at first. A band ends
where the first of the futures does, so that all of it is of all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from scheduler.analysis.forecast.scores import quantiles
from scheduler.engine.kueue.tree.shares import weighted_share
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.world import World
from scheduler.model.amounts import UNLIMITED
from scheduler.model.objects import MARK

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
