"""A lowered max takes back what is over it, after a delay."""

from __future__ import annotations

from scheduler.engine.yunikorn.preemption import quota_change
from tests.scheduler.yunikorn.worlds import World, cores, queue


def _world(**given: object) -> World:
    world = World(
        queue("q", max=8, quota_preemption_delay="10s", **given),  # type: ignore[arg-type]
        nodes={"n": 8},
        laws="released",
        quota_preemption=True,
    )
    for number in range(6):
        world.running(f"p{number}", "root.q", 1, age_s=(6 - number) * 3600)
    return world


def _lower(world: World, size: float) -> None:
    found = world.partition.queue("root.q")
    assert found is not None
    old, found.max = found.max, cores(size)
    delay_ms = found.properties.quota_delay_ms
    quota_change.update_clock(found, old, delay_ms, world.partition.now_ms)


def _pass(world: World, seconds: int) -> None:
    for _ in range(seconds):
        quota_change.advance(world.partition)
        world.leave()
        world.partition.now_ms += 1000


def test_nothing_happens_before_the_delay_is_over() -> None:
    world = _world()
    _lower(world, 4)
    _pass(world, 10)
    assert world.used("root.q") == 6


def test_then_the_newest_pods_over_the_max_go() -> None:
    world = _world()
    _lower(world, 4)
    _pass(world, 12)
    assert sorted(world.places()) == ["p0", "p1", "p2", "p3"]


def test_it_never_takes_more_than_is_over() -> None:
    world = _world()
    _lower(world, 4.5)
    _pass(world, 12)
    assert world.used("root.q") == 5


def test_a_guarantee_is_left_alone() -> None:
    world = _world(guaranteed=5)
    _lower(world, 2)
    _pass(world, 12)
    assert world.used("root.q") == 5


def test_raising_the_max_again_stops_the_clock() -> None:
    world = _world()
    _lower(world, 4)
    _pass(world, 5)
    _lower(world, 6)
    _pass(world, 20)
    assert world.used("root.q") == 6


def test_a_parent_splits_what_is_over_by_use() -> None:
    world = World(
        queue("top", queue("a"), queue("b"), max=9, quota_preemption_delay="1s"),
        nodes={"n": 9},
        laws="released",
        quota_preemption=True,
    )
    for number in range(6):
        world.running(f"a{number}", "root.top.a", 1)
    for number in range(3):
        world.running(f"b{number}", "root.top.b", 1)
    found = world.partition.queue("root.top")
    assert found is not None
    old, found.max = found.max, cores(6)
    quota_change.update_clock(found, old, 1000, world.partition.now_ms)
    _pass(world, 4)
    assert (world.used("root.top.a"), world.used("root.top.b")) == (4, 2)
