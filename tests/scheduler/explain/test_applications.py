"""Why a YuniKorn application waits."""

from __future__ import annotations

import pytest

from scheduler.errors import SchedulerError
from scheduler.explain.applications import explain_application
from scheduler.tick import run_tick
from scheduler.world import World
from tests.builders import node, world_of
from tests.scheduler.yunikorn import clusters


def _full() -> World:
    """Four pods of test fill the node; one of prod waits, two asks of its own."""
    world = clusters.world(nodes={"n": "4"})
    for number in range(4):
        world.put(clusters.pod(f"t{number}", "root.test", "1"))
    run_tick(world)
    world.put(clusters.pod("p", "root.prod", "2"))
    for _ in range(3):
        run_tick(world)
    world.take()
    return world


def _waiting(world: World) -> str:
    assert world.yunikorn is not None
    return world.yunikorn.partition.asks["default/p"].app.id


def test_an_application_that_waits_says_what_both_laws_would_do() -> None:
    world = _full()
    before = world.hash()
    answer = explain_application(world, _waiting(world))
    assert (answer.queue, answer.waiting) == ("root.prod", ["default/p"])
    assert answer.next is not None
    assert {plan.laws for plan in answer.next.plans} == {"released", "documented"}
    assert answer.laws_differ == answer.next.laws_differ
    assert world.hash() == before


def test_an_application_that_runs_has_no_next_ask() -> None:
    world = _full()
    assert world.yunikorn is not None
    running = world.yunikorn.partition.asks["default/t0"].app.id
    answer = explain_application(world, running)
    assert "default/t0" in answer.placed
    assert (answer.waiting, answer.next) == ([], None)


def test_only_yunikorn_has_applications() -> None:
    with pytest.raises(SchedulerError, match="no applications"):
        explain_application(world_of(node("n"), stack="kube"), "a")
    with pytest.raises(SchedulerError, match="no application 'none'"):
        explain_application(_full(), "none")
