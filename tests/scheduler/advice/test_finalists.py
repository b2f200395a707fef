"""The answer is chosen among the best few by seeds that chose none of them."""

from __future__ import annotations

from scheduler.analysis.advice.advisor import Advisor, advise
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.space import Point
from tests.scheduler.advice.worlds import SmallWorld, Team, advisor_of

CALM = SmallWorld(
    "calm",
    (Team("a", 8, 2, 20, 1, 10), Team("b", 8, 2, 20, 1, 10)),
    [{"quota": {"flavor": "default", "resource": "cpu", "step": 2}}],
)
LUCKY, GOOD = (1, 7), (6, 2)


def waits(advisor: Advisor, point: Point, seed: int) -> Numbers:
    """One setting is best with the seeds of the search alone, another one always."""
    usual = {LUCKY: 90.0, GOOD: 50.0}.get(point, 100.0)
    lucky = point == LUCKY and seed in advisor.seeds
    return {"workloads.meanMs": 10.0 if lucky else usual}


def test_a_setting_that_was_lucky_with_the_seeds_of_the_search_is_not_the_answer():
    advisor, _ = advisor_of(CALM, runs=40)
    answer = advise(advisor, lambda ask: waits(advisor, *ask))
    assert LUCKY in set(advisor.space.points())
    assert tuple(answer.point) == GOOD


def test_the_seeds_that_choose_are_none_that_the_proof_is_held_out_on():
    advisor, _ = advisor_of(CALM, runs=40, heldOut={"count": 3, "start": 2_000_001})
    asked: list[int] = []

    def run(ask: tuple[Point, int]) -> Numbers:
        asked.append(ask[1])
        return waits(advisor, *ask)

    answer = advise(advisor, run)
    others = set(asked) - set(answer.seeds) - set(answer.held_out)
    assert len(others) == 4
