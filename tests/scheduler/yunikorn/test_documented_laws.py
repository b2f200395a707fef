"""The seven laws of the design text, one claim each."""

from __future__ import annotations

import pytest

from tests.scheduler.yunikorn.worlds import World, queue


def _two(*, prod: float = 4, test: float = 2, size: float = 8, **home: str) -> World:
    return World(
        queue("prod", guaranteed=prod, **home),
        queue("test", guaranteed=test),
        nodes={"n": size},
    )


def _fill(world: World, path: str, count: int, **given: object) -> None:
    for number in range(count):
        world.running(f"{path}-{number}", path, 1, age_s=1000 - number, **given)


# -- law 1: a suggestion, not a promise


def test_an_opted_out_pod_is_spared_while_another_will_do() -> None:
    world = _two()
    _fill(world, "root.test", 7, allow_self=False)
    world.running("plain", "root.test", 1, age_s=9000)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == [("p", "plain")]


def test_an_opted_out_pod_goes_when_nothing_else_is_there() -> None:
    world = _two()
    _fill(world, "root.test", 7, allow_self=False)
    world.running("plain", "root.test", 1, age_s=9000)
    world.waiting("p", "root.prod", 2)
    world.settle()
    [(_, *gone)] = world.preemptions()
    assert (len(gone), "plain" in gone) == (2, True)


def test_a_node_without_opted_out_victims_is_chosen_before_any_other() -> None:
    world = World(
        queue("prod", guaranteed=4),
        queue("test", guaranteed=1),
        nodes={"a": 4, "b": 4},
    )
    for number in range(4):
        world.running(f"a{number}", "root.test", 1, node="a", allow_self=False)
        world.running(f"b{number}", "root.test", 1, node="b", priority=-0)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions()[0][1].startswith("b")


# -- law 2: no queue falls below its guarantee


def test_a_victim_whose_queue_would_fall_below_its_guarantee_stays() -> None:
    world = _two(test=3, size=4)
    world.running("t0", "root.test", 2)
    world.running("t1", "root.test", 2)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


def test_a_queue_may_come_down_to_exactly_its_guarantee() -> None:
    world = _two(test=2, size=4)
    world.running("t0", "root.test", 2, age_s=900)
    world.running("t1", "root.test", 2, age_s=800)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == [("p", "t1")]


def test_a_victim_that_is_too_large_does_not_end_the_search() -> None:
    world = _two(test=5, size=8)
    world.running("large", "root.test", 4, age_s=100)
    for number in range(4):
        world.running(f"small{number}", "root.test", 1, age_s=500)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == [("p", "small0")]


def test_victims_already_taken_count_against_their_queue() -> None:
    world = _two(test=3, size=4)
    _fill(world, "root.test", 4)
    world.waiting("p", "root.prod", 2)
    world.settle()
    assert world.preemptions() == []


def test_an_ancestor_of_the_victim_keeps_its_guarantee_too() -> None:
    world = World(
        queue("prod", guaranteed=4),
        queue("tenant", queue("a"), guaranteed=4),
        nodes={"n": 4},
    )
    _fill(world, "root.tenant.a", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


# -- law 3: not in the same application


def test_an_application_never_preempts_itself() -> None:
    world = World(queue("prod", guaranteed=20), nodes={"n": 4})
    _fill(world, "root.prod", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


def test_another_application_of_the_same_queue_is_safe_as_well() -> None:
    world = World(queue("prod", guaranteed=20), nodes={"n": 4})
    _fill(world, "root.prod", 4, app="other")
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


# -- law 4: only a queue below its guarantee triggers


def test_a_queue_at_its_guarantee_does_not_preempt() -> None:
    world = _two(prod=1)
    world.running("mine", "root.prod", 1)
    _fill(world, "root.test", 7)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


def test_a_queue_may_end_above_its_guarantee() -> None:
    world = _two(prod=3, test=1)
    _fill(world, "root.test", 6)
    world.running("mine", "root.prod", 2)
    world.waiting("p", "root.prod", 2)
    world.settle()
    assert len(world.preemptions()) == 1
    assert world.used("root.prod") == 4


def test_a_queue_without_any_guarantee_on_its_path_does_not_preempt() -> None:
    world = World(queue("prod"), queue("test"), nodes={"n": 4})
    _fill(world, "root.test", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


def test_the_guarantee_of_the_nearest_ancestor_counts_for_a_leaf_without() -> None:
    world = World(
        queue("tenant", queue("a"), guaranteed=2), queue("test"), nodes={"n": 4}
    )
    _fill(world, "root.test", 4)
    world.waiting("p", "root.tenant.a", 1)
    world.settle()
    assert len(world.preemptions()) == 1


def test_an_ask_waits_for_its_delay_first() -> None:
    world = _two()
    _fill(world, "root.test", 8)
    world.waiting("p", "root.prod", 1, age_s=25)
    world.settle(steps=49)
    assert world.preemptions() == []
    world.settle(steps=3)
    assert len(world.preemptions()) == 1


@pytest.mark.parametrize("text", ["-5s", "0s", "soon"])
def test_a_delay_that_is_no_positive_duration_is_thirty_seconds(text: str) -> None:
    world = _two(preemption_delay=text)
    _fill(world, "root.test", 8)
    world.waiting("p", "root.prod", 1, age_s=29)
    world.settle(steps=9)
    assert world.preemptions() == []


def test_a_delay_on_a_parent_has_no_effect() -> None:
    world = World(
        queue("tenant", queue("a", guaranteed=2), preemption_delay="1h"),
        queue("test"),
        nodes={"n": 4},
    )
    _fill(world, "root.test", 4)
    world.waiting("p", "root.tenant.a", 1)
    world.settle()
    assert len(world.preemptions()) == 1


def test_an_ask_of_a_class_that_never_preempts_waits() -> None:
    world = _two()
    _fill(world, "root.test", 8)
    world.waiting("p", "root.prod", 1, allow_other=False)
    world.settle()
    assert world.preemptions() == []


# -- law 5: only pods of queues above their guarantee go


def test_a_queue_at_its_guarantee_gives_nothing() -> None:
    world = _two(test=4, size=4)
    _fill(world, "root.test", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


# -- law 6: lower or equal priority


@pytest.mark.parametrize(("priority", "goes"), [(-1, True), (0, True), (1, False)])
def test_a_victim_has_no_higher_priority(priority: int, goes: bool) -> None:
    world = _two()
    _fill(world, "root.test", 8, priority=priority)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert bool(world.preemptions()) is goes


def test_the_lowest_priority_goes_first() -> None:
    world = _two()
    _fill(world, "root.test", 7, priority=5)
    world.running("low", "root.test", 1, priority=1, age_s=9000)
    world.waiting("p", "root.prod", 1, priority=5)
    world.settle()
    assert world.preemptions() == [("p", "low")]


@pytest.mark.parametrize("nodes", [{"n": 2}, {"n": 1, "other": 1}])
def test_a_driver_is_spared_while_an_executor_will_do(nodes: dict[str, int]) -> None:
    world = World(queue("prod", guaranteed=4), queue("test"), nodes=nodes)
    world.running("driver", "root.test", 1, age_s=10, originator=True)
    world.running("executor", "root.test", 1, node=list(nodes)[-1], age_s=900)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == [("p", "executor")]


# -- law 7: nothing outside the fence


def _tenants(fence: str) -> World:
    world = World(
        queue(
            "tenant1",
            queue("a", guaranteed=4),
            queue("b", guaranteed=1),
            preemption_policy=fence,
        ),
        queue("tenant2", queue("c")),
        queue("system", guaranteed=4),
        nodes={"n": 4},
    )
    return world


def test_a_fence_keeps_the_search_inside() -> None:
    world = _tenants("fence")
    _fill(world, "root.tenant2.c", 4)
    world.waiting("p", "root.tenant1.a", 1)
    world.settle()
    assert world.preemptions() == []


def test_inside_the_fence_siblings_give_way() -> None:
    world = _tenants("fence")
    _fill(world, "root.tenant1.b", 4)
    world.waiting("p", "root.tenant1.a", 1)
    world.settle()
    assert len(world.preemptions()) == 1


def test_a_fence_does_not_stop_those_who_look_in() -> None:
    world = _tenants("fence")
    _fill(world, "root.tenant1.b", 4)
    world.waiting("p", "root.system", 1)
    world.settle()
    assert len(world.preemptions()) == 1


@pytest.mark.parametrize("other", ["first", "home.middle", "last"])
def test_a_queue_without_a_fence_takes_from_any_other(other: str) -> None:
    world = World(
        queue("first"),
        queue("home", queue("middle")),
        queue("prod", guaranteed=4),
        queue("last"),
        nodes={"n": 4},
    )
    _fill(world, f"root.{other}", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert len(world.preemptions()) == 1


def test_a_fence_on_the_leaf_leaves_nothing_to_take() -> None:
    world = World(
        queue("prod", guaranteed=4, preemption_policy="fence"),
        queue("test"),
        nodes={"n": 4},
    )
    _fill(world, "root.test", 4)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert world.preemptions() == []


def test_a_disabled_queue_neither_gives_nor_takes() -> None:
    world = _tenants("disabled")
    _fill(world, "root.tenant1.b", 3)
    world.running("c", "root.tenant2.c", 1)
    world.waiting("from-system", "root.system", 2)
    world.waiting("from-disabled", "root.tenant1.a", 1)
    world.settle()
    assert world.preemptions() == []


def test_a_policy_on_the_root_has_no_effect() -> None:
    world = _two()
    world.partition.root.own_texts["preemption.policy"] = "disabled"
    _fill(world, "root.test", 8)
    world.waiting("p", "root.prod", 1)
    world.settle()
    assert len(world.preemptions()) == 1


# -- one node, reserved until the ask is placed


def test_all_victims_are_on_one_node() -> None:
    world = World(queue("prod", guaranteed=4), queue("test"), nodes={"a": 2, "b": 2})
    for number in range(2):
        world.running(f"a{number}", "root.test", 1, node="a")
        world.running(f"b{number}", "root.test", 1, node="b")
    world.waiting("p", "root.prod", 2)
    world.settle()
    ((_, *victims),) = world.preemptions()
    assert victims in (["a0", "a1"], ["b0", "b1"])


def test_free_room_counts_so_that_fewer_have_to_go() -> None:
    world = _two(size=5)
    world.running("t0", "root.test", 2, age_s=900)
    world.running("t1", "root.test", 2, age_s=800)
    world.waiting("p", "root.prod", 3)
    world.settle()
    assert world.preemptions() == [("p", "t1")]


def test_the_node_of_the_victims_is_reserved_for_the_preemptor() -> None:
    world = World(
        queue("prod", guaranteed=5), queue("test"), nodes={"a": 1, "b": 1, "c": 1}
    )
    for node in "ac":
        world.running(f"on-{node}", "root.prod", 1, node=node)
    world.running("on-b", "root.test", 1, node="b")
    world.waiting("p", "root.prod", 1)
    world.settle(leave=False)
    assert ("reserve", "p", "b") in world.recorded.events


def test_the_freed_room_is_not_given_to_the_victim_that_came_back() -> None:
    world = _two(size=4)
    _fill(world, "root.test", 4)
    world.waiting("p", "root.prod", 1)
    while not world.recorded.victims:
        world.cycle()
        world.partition.now_ms += 100
    world.leave()
    world.waiting("again", "root.test", 1, age_s=0, priority=100)
    world.settle()
    assert world.places()["p"] == "n"
    assert "again" not in world.places()


# -- the three ReplicaSet cases


def _replica_sets(prod: float, test: float, *, size: float = 8) -> World:
    """A full cluster: prod has 2 pods of 1 core, test the rest; two wait in prod."""
    world = _two(prod=prod, test=test, size=size)
    _fill(world, "root.prod", 2)
    _fill(world, "root.test", int(size) - 2)
    world.waiting("p0", "root.prod", 1, age_s=300)
    world.waiting("p1", "root.prod", 1, age_s=200)
    return world


def _recreated(world: World, steps: int = 3000) -> None:
    """Run for minutes; every victim comes back at once as a new pod."""
    for number in range(steps):
        world.cycle()
        for victim in world.leave():
            path = victim.app.queue.path
            world.waiting(f"{victim.key}-r{number}", path, 1, age_s=0)
        world.partition.now_ms += 100


def test_case_1_takes_one_pod_and_stops_above_the_guarantee() -> None:
    world = _replica_sets(prod=2.5, test=5)
    _recreated(world)
    assert len(world.preemptions()) == 1
    assert world.used("root.prod") == 3


def test_case_2_takes_none_when_test_would_fall_below() -> None:
    world = _replica_sets(prod=4, test=5.5)
    _recreated(world)
    assert world.preemptions() == []


def test_case_3_goes_on_while_prod_is_below_and_test_above() -> None:
    world = _replica_sets(prod=6, test=5)
    world.waiting("p2", "root.prod", 1, age_s=100)
    _recreated(world)
    assert len(world.preemptions()) == 1
    assert world.used("root.test") == 5


def test_case_3_takes_one_after_the_other_up_to_the_guarantee() -> None:
    world = _replica_sets(prod=4, test=2)
    world.waiting("p2", "root.prod", 1, age_s=100)
    _recreated(world)
    assert len(world.preemptions()) == 2
    assert world.used("root.prod") == 4


def test_asks_whose_victims_have_not_left_count_as_served() -> None:
    nodes = {f"n{number}": 4 for number in range(4)}
    world = World(queue("prod", guaranteed=6), queue("test", guaranteed=4), nodes=nodes)
    for node in nodes:
        world.running(f"prod-{node}", "root.prod", 1, node=node)
        for number in range(3):
            world.running(f"test-{node}-{number}", "root.test", 1, node=node)
    for number in range(10):
        world.waiting(f"p{number}", "root.prod", 1)
    world.settle(leave=False)
    assert len(world.preemptions()) == 2
