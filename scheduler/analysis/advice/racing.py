"""Racing: which settings get more seeds, and who stops after the first ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Sequence

from scheduler.analysis.advice.ledger import RunLedger
from scheduler.analysis.advice.space import Point

#: How far behind the best a setting may be on its first seeds, in deviations of a
#: difference between seeds; and that deviation while no setting has all seeds.
_SLACK = 1.0
_UNKNOWN_NOISE = math.inf


def rungs(seeds: tuple[int, ...], *, racing: bool) -> list[tuple[int, ...]]:
    """Return the seeds of each round: one, half of them, all; or all at once."""
    if not racing:
        return [seeds]
    counts = sorted({1, math.ceil(len(seeds) / 2), len(seeds)})
    return [seeds[:count] for count in counts]


def affordable(
    ledger: RunLedger, points: Iterable[Point], seeds: Sequence[int], left: int
) -> list[Point]:
    """Return the settings that the runs that are left are enough for, best first."""

    def so_far(point: Point) -> float:
        ran = ledger.ran(point)
        return ledger.loss(point, ran) if ran else 0.0

    found: list[Point] = []
    for point in sorted(points, key=so_far):
        left -= sum((point, seed) not in ledger.known for seed in seeds)
        if left < 0:
            break
        found.append(point)
    return found


def goes_on(
    ledger: RunLedger, tried: Collection[Point], point: Point, seeds: Sequence[int]
) -> bool:
    """Return whether a setting may still be the best, by the seeds it shares."""
    slack = _SLACK * _noise(ledger, tried) / math.sqrt(len(seeds))
    return ledger.loss(point, seeds) <= ledger.loss(ledger.best(), seeds) + slack


def _noise(ledger: RunLedger, tried: Collection[Point]) -> float:
    """Return how much a difference to the base varies between seeds."""
    base = ledger.space.base
    done = [point for point in tried if point != base and ledger.complete(point)]
    if not done or len(ledger.seeds) < 2:
        return _UNKNOWN_NOISE
    return statistics.median(
        statistics.stdev(
            ledger.loss(point, [seed]) - ledger.loss(base, [seed])
            for seed in ledger.seeds
        )
        for point in done
    )
