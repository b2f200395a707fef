"""Who is served first: queues, applications, requests and nodes."""

from __future__ import annotations

import pytest

from scheduler.engine.yunikorn.objects.model import SchedulingNode
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.sorting.queues import children_in_order
from scheduler.model.registry import lookup
from tests.scheduler.yunikorn.worlds import World, queue


def _order(weights: dict[str, float] | None, *, policy: str = "fair") -> NodeOrder:
    return NodeOrder(lookup("node-sort", policy)(), weights)


def _node(name: str, cpu: int, memory: int) -> SchedulingNode:
    """Return a node of 100 cores and 100 bytes that so much is used of."""
    node = SchedulingNode(name, {"vcore": 100_000, "memory": 100})
    node.available = {"vcore": 100_000 - cpu * 1000, "memory": 100 - memory}
    return node


@pytest.mark.parametrize(
    ("weights", "used"),
    [
        pytest.param(None, 0.70, id="equal weights"),
        pytest.param({"vcore": 4.0, "memory": 1.0}, 0.82, id="four to one"),
        pytest.param({"vcore": 1.0, "memory": 0.25}, 0.82, id="the same, scaled"),
        pytest.param({"memory": 2.0}, 0.50, id="memory alone"),
    ],
)
def test_a_node_is_as_used_as_the_weighted_mean(
    weights: dict[str, float] | None, used: float
) -> None:
    assert _order(weights).used_share(_node("n", 90, 50)) == pytest.approx(used)


@pytest.mark.parametrize(
    ("policy", "first"), [("fair", "idle"), ("binpacking", "full")]
)
def test_fair_spreads_and_binpacking_fills(policy: str, first: str) -> None:
    order = _order(None, policy=policy)
    for name, used in (("busy", 50), ("full", 90), ("idle", 10)):
        order.add(_node(name, used, used))
    assert next(iter(order)).name == first


def test_equally_used_nodes_go_by_name() -> None:
    order = _order(None)
    for name in ("c", "a", "b"):
        order.add(_node(name, 50, 50))
    assert [node.name for node in order] == ["a", "b", "c"]


def _leaf(policy: str, laws: str = "documented") -> World:
    return World(
        queue("q", application_sort_policy=policy), nodes={"n": 100}, laws=laws
    )


@pytest.mark.parametrize(
    ("laws", "shown"), [("documented", "stateaware"), ("released", "fifo")]
)
def test_a_queue_says_the_order_that_its_laws_make_of_its_policy(laws, shown) -> None:
    root = _leaf("stateaware", laws=laws).partition.root
    assert (root.sorted_by, root.children["q"].sorted_by) == ("fair", shown)


def _served(world: World, count: int) -> list[str]:
    for _ in range(count):
        world.cycle()
    return [event[1] for event in world.recorded.events if event[0] == "alloc"]


def test_fifo_serves_all_of_the_first_application_first() -> None:
    world = _leaf("fifo")
    for number in range(2):
        world.waiting(f"late{number}", "root.q", 1, app="junior", age_s=10)
        world.waiting(f"early{number}", "root.q", 1, app="senior", age_s=20)
    for app, age in (("junior", 10_000), ("senior", 20_000)):
        world.partition.apps[app].submit_ms = world.partition.now_ms - age
        world.partition.apps[app].queue.resort(world.partition.apps[app])
    assert _served(world, 4) == ["early0", "early1", "late0", "late1"]


def test_fair_serves_the_application_that_holds_least() -> None:
    world = _leaf("fair")
    for number in range(2):
        world.waiting(f"a{number}", "root.q", 2, app="a")
        world.waiting(f"b{number}", "root.q", 1, app="b")
    assert _served(world, 4) == ["a0", "b0", "b1", "a1"]


def test_stateaware_lets_one_new_application_in_at_a_time() -> None:
    world = _leaf("stateaware")
    world.waiting("driver1", "root.q", 1, app="app1", age_s=30)
    world.waiting("driver2", "root.q", 1, app="app2", age_s=20)
    assert _served(world, 3) == ["driver1"]
    world.waiting("executor1", "root.q", 1, app="app1", age_s=10)
    assert _served(world, 2) == ["driver1", "executor1", "driver2"]


def test_stateaware_serves_who_runs_beside_one_that_starts() -> None:
    world = _leaf("stateaware")
    world.waiting("driver1", "root.q", 1, app="app1", age_s=30)
    world.waiting("executor1", "root.q", 1, app="app1", age_s=30)
    world.waiting("driver2", "root.q", 1, app="app2", age_s=20)
    assert _served(world, 3) == ["driver1", "executor1", "driver2"]
    world.waiting("executor2", "root.q", 1, app="app1", age_s=10)
    assert _served(world, 1)[3:] == ["executor2"]


def test_stateaware_serves_who_runs_before_the_one_it_lets_in() -> None:
    world = _leaf("stateaware")
    for name in ("driver1", "executor1"):
        world.waiting(name, "root.q", 1, app="app1")
    assert _served(world, 2) == ["driver1", "executor1"]
    world.waiting("driver2", "root.q", 1, app="app2", age_s=900)
    world.waiting("executor2", "root.q", 1, app="app1", age_s=10)
    assert _served(world, 2)[2:] == ["executor2", "driver2"]


def test_an_application_that_waits_for_nothing_is_not_in_line() -> None:
    world = _leaf("fifo")
    world.waiting("a1", "root.q", 1, app="a")
    world.waiting("b1", "root.q", 1000, app="b")
    assert _served(world, 1) == ["a1"]
    leaf = world.partition.apps["a"].queue
    assert [app.id for app in leaf.in_order()] == ["b"]


def test_fifo_gives_later_applications_what_the_first_leaves() -> None:
    world = World(queue("q", application_sort_policy="fifo"), nodes={"n": 4})
    world.app("first", "root.q", submit_ms=1)
    world.app("later", "root.q", submit_ms=2)
    world.waiting("large", "root.q", 8, app="first")
    world.waiting("small", "root.q", 1, app="later")
    assert _served(world, 2) == ["small"]


def test_a_starting_application_runs_after_five_minutes() -> None:
    world = _leaf("stateaware")
    world.waiting("driver1", "root.q", 1, app="app1")
    world.waiting("driver2", "root.q", 1, app="app2")
    world.settle(steps=5)
    world.partition.now_ms += 5 * 60_000
    world.settle(steps=2)
    assert sorted(world.places()) == ["driver1", "driver2"]


def test_released_code_reads_stateaware_as_fifo() -> None:
    world = _leaf("stateaware", laws="released")
    world.waiting("driver1", "root.q", 1, app="app1")
    world.waiting("driver2", "root.q", 1, app="app2")
    assert _served(world, 2) == ["driver1", "driver2"]


def test_requests_go_by_priority_then_age() -> None:
    world = _leaf("fifo")
    world.waiting("young", "root.q", 1, app="a", age_s=10)
    world.waiting("old", "root.q", 1, app="a", age_s=20)
    world.waiting("urgent", "root.q", 1, app="a", age_s=5, priority=1)
    assert _served(world, 3) == ["urgent", "old", "young"]


def test_the_queue_that_uses_least_of_its_guarantee_is_served_first() -> None:
    world = World(queue("a", guaranteed=2), queue("b", guaranteed=10), nodes={"n": 100})
    world.running("a0", "root.a", 1)
    world.running("b0", "root.b", 4)
    world.waiting("a1", "root.a", 1)
    world.waiting("b1", "root.b", 1)
    world.partition.refresh()
    order = children_in_order(world.partition, world.partition.root)
    assert [child.name for child in order] == ["b", "a"]


@pytest.mark.parametrize("policy", ["fifo", "fair"])
def test_priority_comes_before_the_order_of_queues_and_of_applications(
    policy: str,
) -> None:
    world = World(
        queue("idle"), queue("busy", application_sort_policy=policy), nodes={"n": 9}
    )
    world.app("early", "root.busy", submit_ms=1)
    world.running("held", "root.busy", 4, app="late")
    world.waiting("of-idle", "root.idle", 1)
    world.waiting("of-early", "root.busy", 1, app="early")
    world.waiting("urgent", "root.busy", 1, app="late", priority=1)
    assert _served(world, 1) == ["urgent"]


@pytest.mark.parametrize(
    ("properties", "first"),
    [
        pytest.param({}, "b", id="priority counts"),
        pytest.param({"priority_offset": "100"}, "a", id="an offset lifts a queue"),
        pytest.param({"priority_policy": "fence"}, "b", id="a fence hides it"),
    ],
)
def test_the_more_urgent_queue_is_served_first(
    properties: dict[str, str], first: str
) -> None:
    world = World(queue("a", **properties), queue("b"), nodes={"n": 100})
    world.waiting("a0", "root.a", 1, priority=1)
    world.waiting("b0", "root.b", 1, priority=2)
    order = children_in_order(world.partition, world.partition.root)
    assert order[0].name == first
