"""Kueue's rangespec: the expected ranges of its scheduling performance test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.experiments.document import ExperimentError
from scheduler.analysis.experiments.results import AssertionVerdict, VariantMeasure
from scheduler.input.manifests.documents import read_documents
from scheduler.model.problems import Form, Wanted, expected
from scheduler.model.problems.validation import said_of_value


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
