"""What is tried before much is known: each kind of change, and what helps only together."""

from __future__ import annotations

import pytest

from scheduler.analysis.advice.advisor import advise
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.search import drawn, kind_of, screening
from scheduler.analysis.advice.space import Point, Space
from tests.scheduler.advice.test_spaces import quota, space
from tests.scheduler.advice.worlds import SmallWorld, Team, advisor_of

_QUOTA = {"quota": {"flavor": "default", "resource": "cpu", "step": 1}}
MIXED = space(_QUOTA, {"weight": {}}, {"fairSharing": {}})
SWITCHED = SmallWorld(
    "weights count once fair sharing is on",
    tuple(Team(name, 8, 2, 20, 1, 10) for name in "abcde"),
    [_QUOTA, {"weight": {}}, {"fairSharing": {}}],
)


def kinds(settings: Space, point: Point) -> set[tuple[str, str]]:
    return {kind_of(settings.dimensions[at]) for at in settings.edited(point)}


@pytest.mark.parametrize("seed", range(5))
def test_each_kind_of_change_is_screened_however_many_transfers_there_are(seed):
    found = screening(MIXED, {}, seed, 6)
    every = kinds(MIXED, tuple(d.now + 1 for d in MIXED.dimensions))
    assert set().union(*(kinds(MIXED, point) for point in found)) == every


def test_screening_has_no_more_than_it_may_and_never_the_base():
    found = screening(MIXED, {}, 1, 9)
    assert len(found) == len(set(found)) == 9
    assert MIXED.base not in found


def test_what_is_drawn_keeps_totals_and_is_the_same_for_the_same_number():
    first, again = (drawn(MIXED, MIXED.base, 3, 7) for _ in range(2))
    assert first == again != drawn(MIXED, MIXED.base, 3, 8)
    assert all(point[:3] == MIXED.base[:3] for point in first)


def test_nothing_is_drawn_where_everything_shares_a_total():
    pooled = quota()
    assert drawn(pooled, pooled.base, 1, 1) == []


@pytest.mark.parametrize("seed", range(3))
def test_settings_that_help_only_together_are_found(seed):
    advisor, _ = advisor_of(SWITCHED, runs=60, seed=seed)
    dimensions = advisor.space.dimensions
    names = [one.name for one in dimensions]
    fair, a, b = (
        names.index(name)
        for name in (
            "policy kueue.fairSharing",
            "ClusterQueue/a fairSharing.weight",
            "ClusterQueue/b fairSharing.weight",
        )
    )

    def waits(point: Point) -> Numbers:
        """Fair sharing with weights alike harms; with b's above a's it helps."""
        on = point[fair] != dimensions[fair].now
        helps = on and point[b] > point[a]
        return {"workloads.meanMs": 20.0 if helps else 150.0 if on else 100.0}

    answer = advise(advisor, lambda ask: waits(ask[0]))
    assert waits(tuple(answer.point)) == {"workloads.meanMs": 20.0}
