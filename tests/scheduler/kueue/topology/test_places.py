"""Places on random trees are those of the text, read word for word."""

from __future__ import annotations

import random
import re

import pytest

from scheduler.engine.kueue.topology.placement import CountsCache, PodSetPlacement
from scheduler.model.topology import TopologyAssignment
from tests.draws import fresh
from tests.scheduler.kueue.reference.balance import balanced
from tests.scheduler.kueue.reference.places import places
from tests.scheduler.kueue.topology.random_places import Case

CASES = 200


def found(case: Case) -> object:
    """Return what the engine says: pods by domain and podset, or how many fit."""
    placement = PodSetPlacement(CountsCache(), case.gates, empty=case.empty)
    results = placement.place(case.tree, case.podsets())
    main = results["main"]
    if isinstance(main, str):
        return int((re.findall(r"only (\d+) out of", main) or [0])[0])
    leader = results.get("leader", TopologyAssignment((), ()))
    assert isinstance(leader, TopologyAssignment)
    return tuple(
        {domain.values: domain.pods for domain in one.domains} for one in (main, leader)
    )


def expected(case: Case) -> object:
    """Return the same by the text; with several layers the message is another."""
    asked = case.asked()
    result = None
    if case.gates.balanced and not (asked.required or asked.anywhere):
        result = balanced(asked)
    answer = places(asked) if result is None else result
    if isinstance(answer, int):
        return 0 if len(case.request.layers) > 1 else answer
    values = 1 if case.by_host else len(case.levels)
    return tuple({path[-values:]: n for path, n in one.items()} for one in answer)


@pytest.mark.parametrize("part", range(4))
def test_a_placement_on_a_random_tree_is_that_of_the_text(part):
    seed, draw = fresh(part)
    for number in range(CASES):
        case = Case(random.Random(draw.random()), balanced=part % 2 == 0)
        assert found(case) == expected(case), (seed, number, case.asked())
