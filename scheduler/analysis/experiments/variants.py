"""Variants: as they are listed, every combination of a grid, or drawn at random."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

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
from scheduler.analysis.experiments.results import AssertionVerdict, VariantMeasure
from scheduler.assembly import merge
from scheduler.input.manifests.documents import read_documents
from scheduler.model import streams
from scheduler.model.policy import read_policy
from scheduler.model.problems import Form, RequestProblem, Wanted, expected, in_field
from scheduler.model.problems.validation import said_of_value


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
                in_field(f"axis {axis.name}", RequestProblem.GRID.said()), "spec.grid"
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
            in_field(f"axis {axis.name}", expected(Wanted.AXIS_TARGET)), "spec.grid"
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


# ------------------------------------------------------------------------
# Kueue's rangespec: the expected ranges of its scheduling performance test.


class Command(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """`cmd` of a rangespec. CPU and memory of the process have no counterpart."""

    max_wall_ms: float | None = msgspec.field(default=None, name="maxWallMs")
    mcpu: float | None = msgspec.field(default=None, name="mCPU")
    maxrss: float | None = None


class RangeSpec(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Expected ranges of Kueue's scheduling performance test.

    Wall time there is virtual time here: the jobs of that test run for real.
    Usage is in percent of nominal quota, per class of ClusterQueues; times to
    admission are means per class of workloads, to the last admission.
    Source: <https://github.com/kubernetes-sigs/kueue/tree/main/test/performance/scheduler>
    """

    cmd: Command = Command()
    cluster_queue_classes_min_usage: dict[str, float] = {}
    wl_classes_max_avg_time_to_admission_ms: dict[str, float] = {}


_UNDERSCORED = re.compile(r"[0-9][0-9_]*(\.[0-9]+)?")
_NO_COUNTERPART = {
    "mCPU": "CPU of Kueue's process",
    "maxrss": "memory of Kueue's process",
}
_CLASS_MEAN = ("classes.", ".meanLastMs")
_NOMINAL = "nominalUse."


def _numbers(value: Any) -> Any:
    """Read 425_000 as the number that it is to Kueue's reader (YAML 1.1)."""
    if isinstance(value, dict):
        return {name: _numbers(part) for name, part in value.items()}
    if isinstance(value, str) and _UNDERSCORED.fullmatch(value):
        return float(value.replace("_", ""))
    return value


def read_rangespec(given: dict[str, Any] | str, files: Mapping[str, str]) -> RangeSpec:
    """Return the rangespec: a document, or the name of a file.

    Raises ExperimentError naming the field, ManifestError naming the line.
    """
    field = "spec.assertions.rangespec"
    if isinstance(given, str):
        if given not in files:
            raise ExperimentError(
                Form.ABSENT.said(kind="file", name=repr(given)), field
            )
        documents = read_documents(files[given], file=given)
        if len(documents) != 1:
            wanted = Wanted.ONE_DOCUMENT_IN.said(name=given)
            problem = expected(wanted, len(documents))
            raise ExperimentError(problem, field)
        given = _numbers(documents[0].data)
    try:
        return msgspec.convert(given, RangeSpec)
    except msgspec.ValidationError as error:
        raise ExperimentError(said_of_value(str(error)), field) from error


def ranges(
    spec: RangeSpec, variant: int, cells: Sequence[VariantMeasure]
) -> Iterator[AssertionVerdict]:
    """Hold every run against the ranges; the worst run is returned."""
    if spec.cmd.max_wall_ms is not None:
        yield _worst(
            variant, "cmd.maxWallMs", cells, "endMs", most=spec.cmd.max_wall_ms
        )
    for name, what in _NO_COUNTERPART.items():
        if getattr(spec.cmd, name.lower()) is not None:
            text = f"cmd.{name}: no counterpart here ({what})"
            yield AssertionVerdict(variant=variant, text=text, holds=None)
    usage = spec.cluster_queue_classes_min_usage
    for name in _known(usage, cells, _NOMINAL, ""):
        yield _worst(
            variant,
            f"clusterQueueClassesMinUsage.{name}",
            cells,
            f"{_NOMINAL}{name}",
            least=usage[name] / 100 if name in usage else None,
        )
    waits = spec.wl_classes_max_avg_time_to_admission_ms
    for name in _known(waits, cells, *_CLASS_MEAN):
        yield _worst(
            variant,
            f"wlClassesMaxAvgTimeToAdmissionMs.{name}",
            cells,
            name.join(_CLASS_MEAN),
            most=waits.get(name),
        )


def _known(
    given: Mapping[str, float],
    cells: Sequence[VariantMeasure],
    before: str,
    behind: str,
) -> list[str]:
    """Return the classes of the spec and of the runs; none when none are given.

    A class that only the runs have is a failure, as it is for Kueue.
    """
    if not given:
        return []
    names = set(given)
    for cell in cells:
        for name in cell.numbers:
            if name.startswith(before) and name.endswith(behind):
                names.add(name[len(before) : len(name) - len(behind)])
    return sorted(names)


def _worst(
    variant: int,
    text: str,
    cells: Sequence[VariantMeasure],
    measure: str,
    *,
    least: float | None = None,
    most: float | None = None,
) -> AssertionVerdict:
    values = [v for cell in cells if (v := cell.numbers.get(measure)) is not None]
    if not values:
        return AssertionVerdict(
            variant=variant, text=f"{text}: no run has it", holds=False
        )
    if least is None and most is None:
        return AssertionVerdict(
            variant=variant, text=f"{text}: not in the spec", holds=False
        )
    if least is not None:
        value = min(values)
        said = f"{text}: {measure} {value:g} >= {least:g}"
        return AssertionVerdict(
            variant=variant, text=said, holds=value >= least, value=value
        )
    assert most is not None
    value = max(values)
    said = f"{text}: {measure} {value:g} <= {most:g}"
    return AssertionVerdict(
        variant=variant, text=said, holds=value <= most, value=value
    )
