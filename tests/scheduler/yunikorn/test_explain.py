"""Why a pod waits, in numbers; and the steps of a cycle."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.yunikorn.explain import explain
from tests.scheduler.yunikorn.worlds import World, queue


def _full(laws: str = "documented") -> World:
    """Return a cluster in which the two sets of laws decide differently."""
    world = World(
        queue("prod", guaranteed=3),
        queue("test", guaranteed=1),
        nodes={"n": 8},
        laws=laws,
    )
    world.running("mine", "root.prod", 2)
    for number in range(6):
        world.running(f"t{number}", "root.test", 1, age_s=900 - number)
    world.waiting("p", "root.prod", 2, age_s=60)
    return world


def queues_in_numbers(world: World) -> list[Any]:
    return [
        (queue.path, dict(queue.allocated), dict(queue.pending), dict(queue.preempting))
        for queue in world.partition.root.walk()
    ]


def test_an_explanation_changes_nothing() -> None:
    world = _full()
    before = queues_in_numbers(world), list(world.recorded.events)
    explain(world.partition, "p")
    assert (queues_in_numbers(world), list(world.recorded.events)) == before


def test_it_says_where_the_two_laws_would_decide_differently() -> None:
    found = explain(_full().partition, "p")["preemption"]
    assert found["lawsDiffer"]
    assert found["documented"] == {"node": "n", "victims": ["t5", "t4"]}
    assert found["released"] == {"refused": "Preemption queue guarantees check failed"}


def test_it_says_which_queue_has_no_room() -> None:
    rows = explain(_full().partition, "p")["quota"]
    assert [(row["queue"], row["fits"]) for row in rows] == [
        ("root.prod", True),
        ("root", False),
    ]


@pytest.mark.parametrize(
    ("size", "verdict"), [(9, "too small in vcore"), (2, "short of vcore")]
)
def test_it_says_what_is_wrong_with_a_node(size: int, verdict: str) -> None:
    world = _full()
    world.waiting("q", "root.prod", size)
    (row,) = explain(world.partition, "q")["nodes"]
    assert row["verdict"] == verdict


class _Steps:
    def __init__(self) -> None:
        self.names: list[str] = []

    def step(self, name: str, **numbers: Any) -> None:
        self.names.append(name)


def test_a_traced_cycle_reports_its_steps() -> None:
    world = _full()
    steps = _Steps()
    world.partition.trace = steps
    world.cycle()
    assert steps.names == ["order", "leaf", "request", "preemption"]
