"""Scores, baselines and the correction of forecasts by their own errors."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.forecast.scores import (
    LEAST,
    LEVELS,
    Conformal,
    binomial_bound,
    crps,
    last_waits,
    pinball,
    quantiles,
)

WAITS = st.lists(st.integers(0, 10**9), max_size=120)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=80))
def test_quantiles_are_monotone_and_within_the_sample(sample):
    found = quantiles(sorted(sample))
    assert found == sorted(found)
    assert min(sample) <= found[0] <= found[-1] <= max(sample)


@given(waits=WAITS, age=st.integers(0, 10**9))
def test_both_baselines_are_monotone_and_the_bound_is_above(waits, age):
    plain, bound = last_waits(waits, age), binomial_bound(waits, age)
    assert plain == sorted(plain)
    assert bound == sorted(bound)
    assert bound[len(LEVELS) // 2] >= min(plain)


def test_a_forecast_that_knew_costs_nothing_and_a_miss_costs_its_distance():
    assert crps([5.0] * len(LEVELS), 5.0) == 0
    assert crps([5.0] * len(LEVELS), 8.0) == pytest.approx(3.0)
    assert pinball(0.9, 5.0, 8.0) == pytest.approx(2.7)


def test_too_few_forecasts_correct_nothing():
    conformal = Conformal()
    raw = [60_000.0 * k for k in range(len(LEVELS))]
    for number in range(LEAST - 1):
        conformal.note(number, raw, raw, 1.0).start_ms = number + 1
    conformal.learn(10**9)
    assert conformal.corrected(raw) == pytest.approx(raw, abs=1e-6)


def test_forecasts_that_are_half_of_what_comes_are_stretched():
    random, conformal = Random(3), Conformal()
    raw = quantiles(sorted(random.uniform(1e6, 3e6) for _ in range(500)))
    hits = []
    for number in range(150):
        now = number * 10_000_000
        conformal.learn(now)
        given = conformal.corrected(raw)
        came = 2 * random.uniform(1e6, 3e6)
        conformal.note(now, raw, given, 1.0).start_ms = round(now + came)
        hits.append(given[1] <= came <= given[37])
    assert sum(hits[50:]) / 100 == pytest.approx(0.9, abs=0.07)


def test_errors_of_one_side_widen_both_and_leave_the_median():
    """An overload shows its errors days later, when they go the other way."""
    conformal = Conformal()
    raw = [1e7 + 1e3 * k for k in range(len(LEVELS))]
    for number in range(60):
        conformal.note(number, raw, raw, 1.0).start_ms = number + 30_000_000
    conformal.learn(10**9)
    given = conformal.corrected(raw)
    middle = len(LEVELS) // 2
    assert given[middle] == pytest.approx(raw[middle])
    assert given[1] < 0.5 * raw[1]
    assert given[-2] > 2 * raw[-2]


@settings(max_examples=10)
@given(st.lists(st.floats(1, 1e8), min_size=25, max_size=40), st.integers(0, 50))
def test_corrected_quantiles_are_monotone(came, seed):
    random, conformal = Random(seed), Conformal()
    for number, rest in enumerate(came):
        raw = quantiles(sorted(random.uniform(0, 1e8) for _ in range(9)))
        conformal.learn(number * 10_000)
        given = conformal.corrected(raw)
        assert given == sorted(given)
        assert given[0] >= 0
        conformal.note(number * 10_000, raw, given, 1.0).start_ms = round(rest)
