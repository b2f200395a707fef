"""DaemonSet pods: room is made on the one node they must run on."""

from __future__ import annotations

import pytest

from scheduler.engine.yunikorn.objects.partition import CYCLE_MS
from tests.scheduler.yunikorn.worlds import World, queue


def _world(laws: str, *, second: bool = True) -> World:
    nodes = {"n": 4, "m": 4} if second else {"n": 4}
    return World(queue("system"), queue("work"), nodes=nodes, laws=laws)


def _fill(world: World, **given: object) -> None:
    for number in range(4):
        world.running(f"w{number}", "root.work", 1, age_s=900 - number, **given)


@pytest.mark.parametrize("laws", ["documented", "released"])
def test_a_daemon_takes_the_room_it_needs_without_delay(laws: str) -> None:
    world = _world(laws)
    _fill(world)
    world.waiting("d", "root.system", 1, required_node="n", age_s=0)
    world.settle(steps=5)
    assert world.preemptions() == [("d", "w3")]
    assert world.places()["d"] == "n"


@pytest.mark.parametrize("laws", ["documented", "released"])
def test_opted_out_pods_go_when_all_are(laws: str) -> None:
    world = _world(laws)
    _fill(world, allow_self=False)
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(steps=5)
    assert len(world.preemptions()) == 1


def test_an_opted_out_pod_stays_while_another_makes_room_for_a_daemon() -> None:
    world = _world("documented")
    world.running("plain", "root.work", 1, age_s=9000)
    for number in range(3):
        world.running(f"kept{number}", "root.work", 1, allow_self=False)
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(steps=5)
    assert world.preemptions() == [("d", "plain")]


@pytest.mark.parametrize(("laws", "gone"), [("documented", 1), ("released", 2)])
def test_only_the_documented_laws_count_free_room(laws: str, gone: int) -> None:
    world = _world(laws)
    for number in range(3):
        world.running(f"w{number}", "root.work", 1)
    world.waiting("d", "root.system", 2, required_node="n")
    world.settle(steps=5)
    ((_, *victims),) = world.preemptions()
    assert len(victims) == gone


@pytest.mark.parametrize(
    ("laws", "placed"), [("documented", True), ("released", False)]
)
def test_a_full_cluster_stops_released_daemons_only(laws: str, placed: bool) -> None:
    world = _world(laws, second=False)
    _fill(world)
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(steps=5)
    assert ("d" in world.places()) is placed


def test_documented_daemons_of_equal_priority_leave_each_other_alone() -> None:
    world = _world("documented")
    world.running("other", "root.work", 4, required_node="n")
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(steps=5)
    assert world.preemptions() == []


def test_documented_daemons_of_higher_priority_take_lower_ones_last() -> None:
    world = _world("documented")
    world.running("daemon", "root.work", 3, required_node="n", priority=-5)
    world.running("opted-out", "root.work", 1, allow_self=False)
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(steps=5)
    assert world.preemptions() == [("d", "opted-out")]


def test_the_node_is_held_until_the_daemon_runs() -> None:
    world = _world("released")
    _fill(world)
    world.waiting("d", "root.system", 1, required_node="n")
    world.settle(leave=False, steps=3)
    world.leave()
    world.partition.now_ms += CYCLE_MS
    world.waiting("thief", "root.work", 1, priority=1000)
    world.settle(steps=3)
    assert world.places()["d"] == "n"
    assert world.places()["thief"] == "m"
