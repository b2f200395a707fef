"""While a search goes on: settings that keep the constraints come first."""

from __future__ import annotations

from typing import Any

from scheduler.analysis.advice.goal import Goal, SearchStanding, standings
from scheduler.analysis.experiments.document import Constraint, read_experiment


def goal_of(**spec: Any) -> Goal:
    document = {"kind": "Experiment", "spec": {"base": {"scenario": "x"}, **spec}}
    return Goal.of(read_experiment(document).spec)


BOUNDED = goal_of(
    objectives=[{"measure": "cost"}],
    search={"change": [{"weight": {}}], "constraints": ["finished >= 5"]},
)


def run(cost: float, finished: float) -> dict[str, float]:
    return {"cost": cost, "finished": finished}


def order(found: list[SearchStanding]) -> list[int]:
    return [one.variant for one in found]


def test_what_keeps_the_constraint_is_better_than_what_costs_less():
    runs = [[run(100, 4)], [run(10, 1)], [run(90, 5)]]
    found = standings(BOUNDED, runs, [0, 1, 1], 1)
    assert order(found) == [2, 0, 1]
    assert [one.missed for one in found] == [[], ["finished >= 5"], ["finished >= 5"]]
    assert found[0].values == {"cost": 90}


def test_what_is_missed_is_said_in_numbers_as_well():
    found = standings(BOUNDED, [[run(100, 4)]], [0], 1)
    assert found[0].missed_constraints == [Constraint(measure="finished", min=5)]


def test_of_equals_the_smaller_change_is_better():
    runs = [[run(100, 5)], [run(90, 5)], [run(90, 5)]]
    assert order(standings(BOUNDED, runs, [0, 2, 1], 1)) == [2, 1, 0]


def test_a_setting_without_all_its_runs_is_not_compared():
    runs = [[run(100, 5), run(110, 5)], [run(1, 5)]]
    assert order(standings(BOUNDED, runs, [0, 1], 2)) == [0]


def test_nothing_is_compared_before_the_base_has_run_or_where_a_measure_is_unknown():
    assert standings(BOUNDED, [[], [run(1, 5)]], [0, 1], 1) == []
    assert standings(BOUNDED, [[{"cost": 1.0}]], [0], 1) == []


def test_a_goal_of_constraints_alone_shows_what_is_bounded():
    goal = goal_of(
        search={"change": [{"weight": {}}], "constraints": ["finished >= 5"]}
    )
    [found] = standings(goal, [[run(100, 4)]], [0], 1)
    assert found.values == {"finished": 4}


def test_a_bound_of_each_that_there_is_says_of_which_it_speaks():
    goal = goal_of(
        search={
            "change": [{"weight": {}}],
            "constraints": [{"measure": "utilisation.*", "min": 0.7}],
        }
    )
    texts = [
        b.text for b in goal.bounds([{"utilisation.cpu": 1, "utilisation.gpu": 1}])
    ]
    assert texts == [
        "utilisation of cpu at least 70%",
        "utilisation of gpu at least 70%",
    ]
