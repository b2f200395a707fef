"""Variants: as they are listed, every combination of a grid, or drawn at random."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scheduler.analysis.experiments.document import (
    MOST_RUNS,
    Axis,
    ExperimentError,
    ExperimentSpec,
    NumberRange,
    ObjectChange,
    SearchSpec,
    Variant,
    seeds_of,
)
from scheduler.assembly import merge
from scheduler.model import streams
from scheduler.model.policy import read_policy
from scheduler.model.problems import Form, RequestProblem, Wanted, expected, in_field


def variants_of(spec: ExperimentSpec) -> list[Variant]:
    """Return every variant, the listed ones first; "base" when there are none.

    Raises ExperimentError for two of one name, an axis that says nothing, a
    policy patch that no policy takes, and for more than MOST_RUNS runs.
    """
    found = [*spec.variants, *_grid(spec.grid)]
    if spec.search is not None and not spec.search.change:
        found += _search(spec.search)
    found = found or [Variant(name="base")]
    _check_names(found)
    for variant in found:
        _check(variant)
    runs = len(found) * len(seeds_of(spec, 0))
    if runs > MOST_RUNS:
        raise ExperimentError(
            RequestProblem.RUNS.said(count=runs, most=MOST_RUNS), "spec"
        )
    return found


def axes_of(spec: ExperimentSpec) -> list[dict[str, str]]:
    """Return what each variant has on which axis, in the order of `variants_of`.

    A listed variant is on none.
    """
    found: list[dict[str, str]] = [{} for _ in spec.variants]
    drawn = [*_combinations(spec.grid)]
    names = [[axis.name for axis in spec.grid]] * len(drawn)
    if spec.search is not None and not spec.search.change:
        searched = [*_draws(spec.search)]
        drawn += searched
        names += [[axis.name for axis in spec.search.axes]] * len(searched)
    for axes, parts in zip(names, drawn, strict=True):
        pairs = zip(axes, parts, strict=True)
        found.append({axis: part.name.removeprefix(f"{axis}=") for axis, part in pairs})
    return found or [{}]


def _check_names(variants: Iterable[Variant]) -> None:
    seen: set[str] = set()
    for variant in variants:
        if not variant.name or variant.name in seen:
            raise ExperimentError(
                expected(Wanted.NAMES, given=f"{variant.name!r} twice")
                if variant.name
                else Form.GOT_NONE.said(wanted=Wanted.NAME),
                "spec.variants",
            )
        seen.add(variant.name)


def _check(variant: Variant) -> None:
    if not (math.isfinite(variant.arrivals) and variant.arrivals > 0):
        raise ExperimentError(
            in_field(
                f"variant {variant.name}",
                expected(
                    Wanted.ABOVE.said(kind="scale", least="0"), given=variant.arrivals
                ),
            ),
            "spec.variants.arrivals",
        )
    read_policy({"spec": merge({}, variant.policy)})
    for change in variant.objects:
        if bool(change.object) == bool(change.create):
            raise ExperimentError(
                in_field(
                    f"variant {variant.name}",
                    expected(Wanted.EITHER_OF.said(first="object", last="create")),
                ),
                "spec.variants.objects",
            )


def _grid(axes: Sequence[Axis]) -> Iterator[Variant]:
    return map(_together, _combinations(axes))


def _combinations(axes: Sequence[Axis]) -> Iterator[tuple[Variant, ...]]:
    if not axes:
        return
    size = math.prod(len(axis.choices) or len(axis.values) for axis in axes)
    if size > MOST_RUNS:
        raise ExperimentError(
            RequestProblem.VARIANTS.said(count=size, most=MOST_RUNS), "spec.grid"
        )
    for axis in axes:
        if axis.range is not None:
            raise ExperimentError(
                in_field(f"axis {axis.name}", RequestProblem.GRID.said()),
                "spec.grid",
            )
    yield from itertools.product(*(_choices(axis) for axis in axes))


def _search(search: SearchSpec) -> Iterator[Variant]:
    for n, parts in enumerate(_draws(search), start=1):
        together = _together(parts)
        yield _named(together, f"#{n} {together.name}")


def _draws(search: SearchSpec) -> Iterator[tuple[Variant, ...]]:
    if not 0 < search.samples <= MOST_RUNS:
        raise ExperimentError(
            expected(
                Wanted.COUNTED.said(least="1", most=MOST_RUNS, kind="samples"),
                given=search.samples,
            ),
            "spec.search.samples",
        )
    for n in range(search.samples):
        yield tuple(_draw(axis, search.seed, n) for axis in search.axes)


def _named(variant: Variant, name: str) -> Variant:
    return Variant(
        name=name,
        policy=variant.policy,
        objects=variant.objects,
        arrivals=variant.arrivals,
    )


def _choices(axis: Axis) -> list[Variant]:
    if axis.choices:
        return [_named(c, f"{axis.name}={c.name}") for c in axis.choices]
    if not axis.values:
        raise ExperimentError(
            in_field(
                f"axis {axis.name}",
                Form.FOUND_NEITHER.said(wanted=Wanted.CHOICES_OR_VALUES),
            ),
            "spec.grid",
        )
    return [_set(axis, value) for value in axis.values]


def _draw(axis: Axis, seed: int, n: int) -> Variant:
    if axis.range is not None:
        share = streams.uniform(seed, "search", axis.name, n)
        return _set(axis, _number(axis.range, share))
    choices = _choices(axis)
    return choices[streams.choose(seed, "search", axis.name, n, among=len(choices))]


def _number(bounds: NumberRange, share: float) -> float:
    least = 0.0 if bounds.scale == "log" else -math.inf
    if not (least < bounds.low <= bounds.high < math.inf):
        raise ExperimentError(
            expected(Wanted.LOW_TO_HIGH, given=f"{bounds.low:g} to {bounds.high:g}"),
            "spec.search.axes",
        )
    if bounds.scale == "log":
        value = bounds.low * math.exp(share * math.log(bounds.high / bounds.low))
    else:
        value = bounds.low + share * (bounds.high - bounds.low)
    return round(value) if bounds.whole else round(value, 6)


def _set(axis: Axis, value: Any) -> Variant:
    """Return the variant in which what the axis names has this value."""
    name = f"{axis.name}={_text(value)}"
    if axis.policy:
        patch: Any = value
        for step in reversed(axis.policy.split(".")):
            patch = {step: patch}
        return Variant(name=name, policy=patch)
    if axis.object and axis.field:
        change = ObjectChange(object=axis.object, set={axis.field: value})
        return Variant(name=name, objects=[change])
    if axis.object or axis.field or axis.name != "arrivals":
        raise ExperimentError(
            in_field(f"axis {axis.name}", expected(Wanted.AXIS_TARGET)),
            "spec.grid",
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        problem = in_field(f"axis {axis.name}", expected(Wanted.NUMBERS, value))
        raise ExperimentError(problem, "spec.grid")
    return Variant(name=name, arrivals=float(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _together(parts: Sequence[Variant]) -> Variant:
    """Return one variant with the changes of all."""
    policy: dict[str, Any] = {}
    for part in parts:
        policy = merge(policy, part.policy)
    return Variant(
        name=", ".join(part.name for part in parts),
        policy=policy,
        objects=[change for part in parts for change in part.objects],
        arrivals=math.prod(part.arrivals for part in parts),
    )
