"""What an experiment promises, held against what came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler.analysis.experiments.document import Assertion, ExperimentError
from scheduler.analysis.experiments.results import (
    AssertionVerdict,
    VariantMeasure,
    VariantResult,
)
from scheduler.analysis.experiments.variants import ranges, read_rangespec
from scheduler.model.problems import Form


def judge(
    assertions: Sequence[Assertion],
    names: Sequence[str],
    lines: Sequence[VariantResult],
    cells: Sequence[VariantMeasure],
    files: Mapping[str, str],
) -> list[AssertionVerdict]:
    """Return the verdicts on all variants that have run."""
    verdicts: list[AssertionVerdict] = []
    for assertion in assertions:
        if assertion.variant and assertion.variant not in names:
            problem = Form.ABSENT.said(kind="variant", name=repr(assertion.variant))
            raise ExperimentError(problem, "spec.assertions.variant")
        spec = (
            read_rangespec(assertion.rangespec, files) if assertion.rangespec else None
        )
        for line in lines:
            if assertion.variant in ("", names[line.variant]) and line.runs:
                own = [cell for cell in cells if cell.variant == line.variant]
                if spec is None:
                    verdicts += _measure(assertion, line, own)
                else:
                    verdicts += ranges(spec, line.variant, own)
    return verdicts


def _measure(
    assertion: Assertion, line: VariantResult, cells: list[VariantMeasure]
) -> Iterator[AssertionVerdict]:
    name = assertion.measure
    if assertion.over == "mean":
        found = line.measures.get(name)
        yield _bounded(line.variant, name, found.mean if found else None, assertion)
        return
    values = [cell.numbers.get(name) for cell in cells]
    worst = next((v for v in values if not _inside(v, assertion)), values[0])
    yield _bounded(line.variant, f"{name} in every run", worst, assertion)


def _bounded(
    variant: int, name: str, value: float | None, bounds: Assertion
) -> AssertionVerdict:
    low = f"{bounds.min:g} <= " if bounds.min is not None else ""
    high = f" <= {bounds.max:g}" if bounds.max is not None else ""
    found = "no run has it" if value is None else f"{value:g}"
    return AssertionVerdict(
        variant=variant,
        text=f"{low}{name}{high}: {found}",
        holds=_inside(value, bounds),
        value=value,
    )


def _inside(value: float | None, bounds: Assertion) -> bool:
    if value is None:
        return False
    above = bounds.min is None or value >= bounds.min
    return above and (bounds.max is None or value <= bounds.max)
