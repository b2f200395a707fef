"""How many pods are left out: the fewest, found in Kueue's order of attempts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.engine.kueue.flavorassigner.assigner import reduce_counts
from scheduler.model.workload import Catalogue, PodSet

SIZES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=3
)


def pod_sets(*sizes: tuple[int, int | None]) -> list[PodSet]:
    """Return podsets of these counts and least counts."""
    template = {"spec": {"containers": [{}]}}
    given = [
        {"name": f"p{n}", "count": count, "template": template}
        | ({} if least is None else {"minCount": least})
        for n, (count, least) in enumerate(sizes)
    ]
    return list(Catalogue().pod_sets(given, "default"))


@given(SIZES, st.integers(0, 30))
def test_as_few_pods_are_left_out_as_will_do(sizes, most):
    parts = pod_sets(*((least + more, least) for least, more in sizes))
    spare, total = [more for _, more in sizes], sum(more for _, more in sizes)
    steps = [
        tuple(
            part.count - less * step // total
            for part, less in zip(parts, spare, strict=True)
        )
        for step in range(total + 1)
        if total
    ]
    first = next((counts for counts in steps if sum(counts) <= most), None)
    found = reduce_counts(parts, lambda c: c if sum(c) <= most else None)
    assert found == first


@pytest.mark.parametrize(
    ("works", "tried", "found"),
    [
        ((), [2, 0], None),
        ((4, 3, 2, 1, 0), [2, 3, 4], 4),
        ((3, 1, 0), [2, 0, 1], 1),
        ((0,), [2, 0, 1], 0),
    ],
)
def test_attempts_halve_what_is_left(works, tried, found):
    attempts: list[int] = []

    def attempt(counts: tuple[int, ...]) -> int | None:
        attempts.append(counts[0])
        return counts[0] if counts[0] in works else None

    assert reduce_counts(pod_sets((4, 0)), attempt) == found
    assert attempts == tried


def test_without_a_least_count_nothing_is_left_out():
    def attempt(counts: tuple[int, ...]) -> None:
        raise AssertionError(counts)

    assert reduce_counts(pod_sets((4, None), (3, 3)), attempt) is None
