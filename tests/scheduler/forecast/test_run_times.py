"""Run times of similar work: never below what ran already, never above the limit."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.forecast.run_times import (
    STEPS,
    UNKNOWN,
    RunTimes,
    WorkloadProfile,
)

MINUTE = 60_000


def work(ident: int = 0, **given) -> WorkloadProfile:
    known = {"submit_ms": 0, "size": 4, "queue": "batch", "user": "ada", **given}
    return WorkloadProfile(ident=ident, **known)


def history(*runs: int, **given) -> RunTimes:
    known = RunTimes()
    for number, run in enumerate(runs, start=1):
        known.add(work(number, **given), run)
    return known


@given(
    runs=st.lists(st.integers(1, 10**8), max_size=20),
    elapsed=st.integers(0, 10**7),
    limit=st.none() | st.integers(1, 10**8),
    seed=st.integers(0, 99),
)
def test_a_draw_is_longer_than_it_ran_and_within_the_limit(runs, elapsed, limit, seed):
    known = history(*runs).given(work(limit_ms=limit), 0, elapsed)
    drawn = known.draw(Random(seed))
    assert drawn > elapsed
    if limit is not None:
        assert drawn <= max(limit, elapsed + 1)


@given(runs=st.lists(st.integers(1, 10**8), max_size=20), elapsed=st.integers(0, 10**7))
def test_weights_are_a_distribution(runs, elapsed):
    known = history(*runs).given(work(), 0, elapsed)
    assert known.values == sorted(known.values)
    assert known.until == sorted(known.until)
    assert all(0 <= share <= 1 + 1e-9 for share in known.until)


def test_without_history_it_says_so():
    assert RunTimes().given(work(), 0).step == UNKNOWN


def test_it_falls_back_to_less_similar_work_and_says_to_which():
    known = history(MINUTE, MINUTE, user="ada", family="train", limit_ms=3 * MINUTE)
    same = known.given(work(family="train", limit_ms=3 * MINUTE), 0)
    other_size = known.given(work(family="train", size=64), 0)
    other_user = known.given(work(user="bo", size=64), 0)
    assert [same.step, other_size.step, other_user.step] == [
        STEPS[0],
        STEPS[1],
        STEPS[5],
    ]


def test_what_ran_longer_already_takes_as_long_as_longer_ones_did():
    known = history(*[MINUTE] * 30, *[60 * MINUTE] * 5)
    late = known.given(work(), 0, 2 * MINUTE)
    assert set(late.values) == {60 * MINUTE}


def test_what_still_runs_counts_as_longer_than_it_ran():
    known = history(*[MINUTE] * 10, *[60 * MINUTE] * 2)
    before = known.given(work(99), 10 * MINUTE)
    for ident in range(50, 60):
        known.begin(work(ident), 0)
    after = known.given(work(99), 10 * MINUTE)

    def short(found) -> float:
        return found.until[found.values.index(MINUTE)]

    assert short(after) < short(before)
