"""What is tried first: quota in proportion to the work that came to each queue."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.advice.goal import guesses
from scheduler.analysis.advice.space import Point, Space
from tests.scheduler.advice.test_spaces import quota, space

QUOTA = quota()  # of a, b and c: 2, 4 and 3 CPUs


def did(**queues: tuple[float, int, int]) -> dict[str, float]:
    """What a base did: hours held, what came, and what of it started."""
    found = {}
    for name, (held, arrived, started) in queues.items():
        found[f"usedHours.{name}.cpu"] = held
        found[f"queues.{name}.arrived"] = arrived
        found[f"queues.{name}.started"] = started
    return found


def cpus(settings: Space, point: Point) -> list[int]:
    pairs = zip(settings.dimensions, point, strict=True)
    return [int(dimension.values[index]) for dimension, index in pairs]


def test_quota_in_proportion_to_work_comes_first_and_then_half_of_that_way():
    found = guesses(QUOTA, did(a=(6, 9, 9), b=(2, 2, 2), c=(1, 5, 5)))
    assert [cpus(QUOTA, point) for point in found] == [[6, 2, 1], [4, 3, 2]]


def test_what_did_not_start_counts_as_much_as_what_did():
    found = guesses(QUOTA, did(a=(2, 9, 3), b=(2, 2, 2), c=(1, 5, 5)))
    assert cpus(QUOTA, found[0]) == [6, 2, 1]


def test_a_queue_of_which_nothing_started_keeps_its_quota():
    found = guesses(QUOTA, did(a=(5, 9, 9), b=(1, 2, 2), c=(0, 5, 0)))
    assert cpus(QUOTA, found[0]) == [5, 1, 3]


def test_a_budget_is_spent():
    bought = quota(total=12)
    found = guesses(bought, did(a=(6, 1, 1), b=(3, 1, 1), c=(3, 1, 1)))
    assert cpus(bought, found[0]) == [4, 4, 4]  # twice what a has is the most


def test_nothing_is_guessed_where_no_total_is_shared_or_nothing_ran():
    free = space({"queueingStrategy": {}})
    assert guesses(free, did(a=(6, 9, 9))) == guesses(QUOTA, {}) == []


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 9)), min_size=3, max_size=3)
)
def test_every_guess_keeps_the_total(work):
    ran = {
        name: (held, started + 1, started)
        for name, (held, started) in zip("abc", work, strict=True)
    }
    assert all(QUOTA.valid(point) for point in guesses(QUOTA, did(**ran)))
