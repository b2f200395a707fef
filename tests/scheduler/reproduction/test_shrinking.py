"""Shrinking lists, whatever is in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.reproduction.trimming import shrink, shrink_groups


def always() -> bool:
    return True


@given(st.sets(st.integers(0, 60), max_size=6))
def test_what_is_needed_is_all_that_is_left(needed):
    kept, minimal = shrink(range(61), lambda part: needed <= set(part), always)
    assert (set(kept), minimal) == (needed, True)


@given(st.integers(1, 40), st.integers(1, 40))
def test_nothing_that_is_left_can_go(count, enough):
    def shows(part: list[int]) -> bool:
        return len(part) >= min(count, enough)

    kept, minimal = shrink(range(count), shows, always)
    assert minimal
    assert not any(shows(kept[:n] + kept[n + 1 :]) for n in range(len(kept)))


def test_a_few_of_many_are_found_in_few_runs():
    runs = 0

    def shows(part: list[int]) -> bool:
        nonlocal runs
        runs += 1
        return {17, 4711} <= set(part)

    kept, _ = shrink(range(10_000), shows, always)
    assert kept == [17, 4711]
    assert runs < 120


def test_who_is_stopped_says_that_it_is_not_minimal():
    left = iter([True, True, False])
    kept, minimal = shrink(range(100), lambda part: 3 in part, lambda: next(left))
    assert 3 in kept
    assert not minimal


def test_whole_groups_go_at_one_run_each():
    kept = shrink_groups(range(100), lambda n: n % 10, lambda p: 42 in p, always)
    assert kept == list(range(2, 100, 10))
