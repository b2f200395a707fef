"""The order in which domains are taken, of a few and of hundreds."""

from __future__ import annotations

import random

import pytest

from scheduler.engine.kueue.topology.counts import Count
from scheduler.engine.kueue.topology.levels import by_capacity
from scheduler.engine.kueue.topology.tree import Domain

FEW = 40


@pytest.mark.parametrize("leaders", [False, True])
@pytest.mark.parametrize("least_free", [False, True])
def test_the_order_of_hundreds_of_domains_is_that_of_any_few_of_them(
    least_free, leaders
):
    draw = random.Random(5)
    root = Domain((), None)
    domains = [Domain((f"d{number:03}",), root) for number in range(200)]
    counts = {
        domain: Count(*(draw.randint(0, 2) for _ in range(5))) for domain in domains
    }

    def ordered(some: list[Domain]) -> list[Domain]:
        return by_capacity(
            some, counts.__getitem__, least_free=least_free, leaders=leaders
        )

    every = ordered(domains)
    assert len(every) == len(domains)
    for begin in range(0, len(domains), FEW):
        few = domains[begin : begin + FEW]
        assert [domain for domain in every if domain in few] == ordered(few)
