"""Many runs in one table: per variant and measure a mean, an interval, a difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from scheduler.analysis.experiments.document import Objective
from scheduler.analysis.experiments.intervals import Interval, interval

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
