"""Tables, intervals, fronts and assertions, by hand-made numbers."""

from __future__ import annotations

import pytest

from scheduler.analysis.experiments.assertions import judge
from scheduler.analysis.experiments.document import (
    Assertion,
    ExperimentError,
    Objective,
)
from scheduler.analysis.experiments.results import (
    VariantMeasure,
    bootstrap,
    interval,
    t_value,
    table,
)

LOW_WAIT = [Objective(measure="wait"), Objective(measure="jain", better="high")]


def cells(*runs: tuple[int, int, dict[str, float]]) -> list[VariantMeasure]:
    return [VariantMeasure(variant=v, seed=s, numbers=n) for v, s, n in runs]


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (30, 2.0423), (999, 1.9623)],
)
def test_t_values_are_those_of_the_tables(freedom, expected):
    assert t_value(freedom) == pytest.approx(expected, abs=5e-5)


def test_an_interval_is_the_mean_and_t_times_the_error():
    found = interval([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - found.mean == pytest.approx(4.3027 / 3**0.5, abs=1e-4)


def test_an_interval_of_waits_does_not_go_below_zero():
    waits = [0.0, 0.0, 0.0, 1.0, 60.0]
    assert interval(waits).low < 0
    found = interval(waits, least=0.0)
    assert 0 <= found.low < found.mean < found.high <= 60
    assert interval(waits[::-1], least=0.0) == found


def test_an_interval_that_t_keeps_above_the_least_is_that_of_t():
    assert interval([5.0, 6.0, 7.0], least=0.0) == interval([5.0, 6.0, 7.0])


def test_two_values_have_all_between_them():
    assert bootstrap([0.0, 9.0]) == (0.0, 9.0)


def test_differences_may_go_below_zero():
    runs = cells((0, 1, {"wait": 10}), (0, 2, {"wait": 10}))
    runs += cells((1, 1, {"wait": 10}), (1, 2, {"wait": 12}))
    [_, line] = table(runs, 2, LOW_WAIT)
    assert line.differences["wait"].low < 0 <= line.measures["wait"].low


def test_one_value_has_no_interval():
    assert interval([4.0]).high is None


def test_no_value_has_no_mean():
    assert interval([]) is None


def test_differences_are_taken_seed_by_seed():
    runs = cells((0, 1, {"wait": 10}), (0, 2, {"wait": 90}))
    runs += cells((1, 1, {"wait": 9}), (1, 2, {"wait": 89}))
    [_, line] = table(runs, 2, LOW_WAIT)
    assert (line.differences["wait"].low, line.differences["wait"].high) == (-1, -1)


def test_a_seed_that_the_first_variant_lacks_makes_no_difference():
    runs = cells((0, 1, {"wait": 10}), (1, 1, {"wait": 9}), (1, 2, {"wait": 1}))
    [_, line] = table(runs, 2, LOW_WAIT)
    assert line.differences["wait"].count == 1


def test_on_the_front_is_who_nobody_beats():
    runs = cells(
        (0, 1, {"wait": 10, "jain": 0.9}),
        (1, 1, {"wait": 20, "jain": 0.8}),
        (2, 1, {"wait": 5, "jain": 0.5}),
        (3, 1, {"wait": 4}),
    )
    assert [line.front for line in table(runs, 4, LOW_WAIT)] == [
        True,
        False,
        True,
        False,
    ]


def verdicts(assertion: Assertion, *runs, files=None):
    found = cells(*runs)
    names = ["a", "b"]
    lines = table(found, len(names), LOW_WAIT)
    return judge([assertion], names, lines, found, files or {})


def test_a_mean_may_hold_where_a_run_does_not():
    runs = (0, 1, {"wait": 10}), (0, 2, {"wait": 30})
    mean = Assertion(measure="wait", max=20)
    every = Assertion(measure="wait", max=20, over="every")
    assert [v.holds for v in verdicts(mean, *runs)] == [True]
    [verdict] = verdicts(every, *runs)
    assert (verdict.holds, verdict.value) == (False, 30)


def test_a_measure_that_no_run_has_does_not_hold():
    [verdict] = verdicts(Assertion(measure="waitt", min=0), (0, 1, {"wait": 10}))
    assert verdict.holds is False


def test_an_assertion_may_be_about_one_variant():
    runs = (0, 1, {"wait": 10}), (1, 1, {"wait": 30})
    found = verdicts(Assertion(measure="wait", max=20, variant="b"), *runs)
    assert [(v.variant, v.holds) for v in found] == [(1, False)]


def test_an_assertion_about_nobody_is_an_error():
    with pytest.raises(ExperimentError, match="no variant"):
        verdicts(Assertion(measure="wait", variant="c"))


RANGES = """
cmd: {maxWallMs: 425_000, mCPU: 250, maxrss: 1}
clusterQueueClassesMinUsage: {cq: 50}
wlClassesMaxAvgTimeToAdmissionMs: {large: 23_000}
"""


def ranged(**numbers: float) -> dict[str, bool | None]:
    given = {
        "endMs": 400_000.0,
        "nominalUse.cq": 0.559,
        "classes.large.meanLastMs": 16_501.0,
        **numbers,
    }
    assertion = Assertion(rangespec="ranges.yaml")
    files = {"ranges.yaml": RANGES}
    found = verdicts(assertion, (0, 1, given), files=files)
    return {verdict.text.partition(":")[0]: verdict.holds for verdict in found}


def test_a_rangespec_holds_and_names_what_has_no_counterpart():
    assert ranged() == {
        "cmd.maxWallMs": True,
        "cmd.mCPU": None,
        "cmd.maxrss": None,
        "clusterQueueClassesMinUsage.cq": True,
        "wlClassesMaxAvgTimeToAdmissionMs.large": True,
    }


def test_usage_below_the_range_fails():
    assert ranged(**{"nominalUse.cq": 0.49})["clusterQueueClassesMinUsage.cq"] is False


def test_a_class_that_the_rangespec_does_not_know_fails():
    found = ranged(**{"classes.huge.meanLastMs": 1.0})
    assert found["wlClassesMaxAvgTimeToAdmissionMs.huge"] is False


def test_a_rangespec_with_an_unknown_field_is_refused():
    with pytest.raises(ExperimentError, match="maxWall"):
        verdicts(Assertion(rangespec={"cmd": {"maxWall": 1}}))
