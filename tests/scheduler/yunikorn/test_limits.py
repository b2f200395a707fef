"""User, group and application limits."""

from __future__ import annotations

from scheduler.model.hierarchy import Limit
from tests.scheduler.yunikorn.worlds import World, cores, queue


def _world(*limits: Limit) -> World:
    return World(queue("q", limits=limits), nodes={"n": 100}, laws="released")


def test_a_user_does_not_get_more_than_the_limit() -> None:
    world = _world(Limit(users=("ann",), max_resources=cores(2)))
    for number in range(3):
        world.app("of-ann", "root.q", user="ann")
        world.waiting(f"p{number}", "root.q", 1, app="of-ann")
    world.settle(steps=5)
    assert len(world.places()) == 2
    assert world.recorded.why["p2"] == {"Not enough user quota"}


def test_the_limit_of_anybody_is_for_those_without_their_own() -> None:
    world = _world(
        Limit(users=("ann",), max_resources=cores(5)),
        Limit(users=("*",), max_resources=cores(1)),
    )
    for user in ("ann", "bob"):
        world.app(user, "root.q", user=user)
        for number in range(2):
            world.waiting(f"{user}{number}", "root.q", 1, app=user)
    world.settle(steps=5)
    assert sorted(world.places()) == ["ann0", "ann1", "bob0"]


def test_a_group_shares_its_limit() -> None:
    world = _world(Limit(groups=("dev",), max_resources=cores(1)))
    for user in ("ann", "bob"):
        world.app(user, "root.q", user=user, groups=("dev",))
        world.waiting(user, "root.q", 1, app=user)
    world.settle(steps=5)
    assert len(world.places()) == 1


def test_what_ends_counts_no_longer() -> None:
    world = _world(Limit(users=("*",), max_resources=cores(1)))
    first = world.waiting("p0", "root.q", 1)
    world.waiting("p1", "root.q", 1)
    world.settle(steps=3)
    world.partition.release(first)
    world.settle(steps=3)
    assert list(world.places()) == ["p1"]


def test_a_user_runs_no_more_applications_than_allowed() -> None:
    world = _world(Limit(users=("*",), max_applications=1))
    for app in ("a", "b"):
        world.waiting(app, "root.q", 1, app=app)
    world.settle(steps=5)
    assert list(world.places()) == ["a"]


def test_a_queue_runs_no_more_applications_than_allowed() -> None:
    world = World(queue("q", max_applications=1), nodes={"n": 9}, laws="released")
    for app in ("a", "b"):
        world.waiting(app, "root.q", 1, app=app)
    world.settle(steps=5)
    assert list(world.places()) == ["a"]


def test_a_queue_never_passes_its_max() -> None:
    world = World(queue("top", queue("a", max=5), queue("b"), max=3), nodes={"n": 9})
    for number in range(3):
        world.waiting(f"a{number}", "root.top.a", 1)
        world.waiting(f"b{number}", "root.top.b", 1)
    world.settle(steps=5)
    assert world.used("root.top") == 3
