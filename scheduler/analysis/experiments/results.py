"""Many runs in one table: per variant and measure a mean, an interval, a difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from scheduler.analysis.experiments.document import Objective

Numbers = Mapping[str, float]  # flat name of a measure -> value


class VariantMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to, as the table needs it."""

    variant: int
    seed: int
    numbers: Numbers


class VariantResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One variant: its measures, and how they differ from the first variant's.

    Differences are taken seed by seed, so that what the seeds bring along
    falls out. `front`: no other variant is as good in every
    objective and better in one.
    """

    variant: int
    runs: int
    measures: dict[str, Interval]
    differences: dict[str, Interval]
    front: bool


class AssertionVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether one assertion held for one variant.

    `holds` is None for what a simulation cannot show.
    """

    variant: int
    text: str
    holds: bool | None
    value: float | None = None


def table(
    cells: Iterable[VariantMeasure], variants: int, objectives: Sequence[Objective]
) -> list[VariantResult]:
    """Return a line per variant. O(runs x measures)."""
    by_variant: list[dict[int, Numbers]] = [{} for _ in range(variants)]
    for cell in cells:
        by_variant[cell.variant][cell.seed] = cell.numbers
    measures = [_intervals(list(runs.values()), least=0.0) for runs in by_variant]
    front = pareto(measures, objectives)
    return [
        VariantResult(
            variant=n,
            runs=len(runs),
            measures=measures[n],
            differences=_differences(by_variant[0], runs) if n else {},
            front=n in front,
        )
        for n, runs in enumerate(by_variant)
    ]


def with_front(
    lines: Sequence[VariantResult], objectives: Sequence[Objective]
) -> list[VariantResult]:
    """Return the lines with the Pareto front of other objectives."""
    front = pareto([line.measures for line in lines], objectives)
    return [
        msgspec.structs.replace(line, front=n in front) for n, line in enumerate(lines)
    ]


def ordered(
    lines: Sequence[VariantResult],
    names: Sequence[str],
    by: str,
    *,
    falling: bool = False,
) -> list[VariantResult]:
    """Return the lines sorted by "variant", "name" or the mean of a measure.

    Lines that lack the measure come last, whichever way it goes; ties stay in
    the order of the variants.
    """
    if by == "variant":
        return sorted(lines, key=lambda line: line.variant, reverse=falling)
    if by == "name":
        return sorted(lines, key=lambda line: names[line.variant], reverse=falling)
    sign = -1 if falling else 1
    have = [line for line in lines if by in line.measures]
    lack = [line for line in lines if by not in line.measures]
    return [*sorted(have, key=lambda line: sign * line.measures[by].mean), *lack]


def _intervals(
    runs: Sequence[Numbers], *, least: float = -math.inf
) -> dict[str, Interval]:
    values: dict[str, list[float]] = {}
    for numbers in runs:
        for name, value in numbers.items():
            values.setdefault(name, []).append(value)
    return {
        name: found
        for name, given in sorted(values.items())
        if (found := interval(given, least=least)) is not None
    }


def _differences(
    first: Mapping[int, Numbers], runs: Mapping[int, Numbers]
) -> dict[str, Interval]:
    pairs = [
        {n: value - first[seed][n] for n, value in numbers.items() if n in first[seed]}
        for seed, numbers in runs.items()
        if seed in first
    ]
    return _intervals(pairs)


def pareto(
    measures: Sequence[Mapping[str, Interval]], objectives: Sequence[Objective]
) -> set[int]:
    """Return the variants that no other one beats, by means.

    A variant that lacks an objective's measure is not on the front.
    """
    points = {
        n: point
        for n, found in enumerate(measures)
        if (point := _point(found, objectives)) is not None
    }
    return {
        n
        for n, point in points.items()
        if not any(_beats(other, point) for other in points.values())
    }


def _point(
    measures: Mapping[str, Interval], objectives: Sequence[Objective]
) -> tuple[float, ...] | None:
    """Return the means of the objectives, turned so that less is better."""
    if any(objective.measure not in measures for objective in objectives):
        return None
    return tuple(
        measures[objective.measure].mean * (1 if objective.better == "low" else -1)
        for objective in objectives
    )


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    no_worse = all(a <= b for a, b in zip(one, other, strict=True))
    return no_worse and one != other


# ------------------------------------------------------------------------
# Means with confidence intervals over seeds.


CONFIDENCE = 0.95
_RESAMPLES = 4000


class Interval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A mean and where the true one lies with 95% confidence.

    With one value alone there is no interval: low and high are None.
    """

    count: int
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float], *, least: float = -math.inf) -> Interval | None:
    """Return mean and 95% interval by Student's t; None for no values.

    Where that would go below what no value can (`least`), t does not fit them, and
    the interval is had by bootstrap: the same values, in whatever order, give the
    same one.
    """
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(count=1, mean=mean, low=None, high=None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = t_value(count - 1) * math.sqrt(variance / count)
    low, high = mean - half, mean + half
    if low < least <= min(values):
        low, high = bootstrap(values)
    return Interval(count=count, mean=mean, low=low, high=high)


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% interval of the mean by resampling, of at least two values.

    Quantiles of the means of resamples, further out the fewer values there are, as
    plain ones are too narrow then; never beyond the values themselves.
    Source: Hesterberg, What Teachers Should Know About the Bootstrap, section 3.4,
    <https://arxiv.org/abs/1411.5279>
    """
    count = len(values)
    drawn = np.random.default_rng(1).integers(count, size=(_RESAMPLES, count))
    means = np.sort(np.asarray(values, dtype=np.float64))[drawn].mean(axis=1)
    far = math.sqrt(count / (count - 1)) * t_value(count - 1)
    tail = math.erfc(far / math.sqrt(2)) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@lru_cache(maxsize=1024)
def t_value(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return t for which |T| < t with this confidence, by halving.

    Raises ValueError below one degree of freedom.
    """
    if freedom < 1:
        raise ValueError(f"expected at least 1 degree of freedom, got {freedom}")
    low, high = 0.0, 1.0
    while within(high, freedom) < confidence:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def within(t: float, freedom: int) -> float:
    """Return the probability that |T| < t, for whole degrees of freedom.

    A finite sum of powers of cos(atan(t / sqrt(freedom))).
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7,
    <https://personal.math.ubc.ca/~cbm/aands/>
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if odd:
        return (angle + sine * total) * 2 / math.pi
    return sine * total
