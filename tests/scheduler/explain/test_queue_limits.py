"""What raises a limit of YuniKorn that holds a pod back, by how much, and that it starts then."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.explain.would import helps
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import node, pod, queue_tree, world_of

TWO = Key("Pod", "default", "two")


def asked_by(name: str, queue: str = "root.a") -> dict[str, Any]:
    """Return a pod of 3 vcore that is an application of its own."""
    made = pod(name, cpu=3, runtime="1h")
    made["metadata"]["labels"] = {"queue": queue, "applicationId": name}
    return made


def held_back(*, cpu: int = 16, **queue: Any) -> World:
    """Return a world in which `one` runs in root.a and `two` waits there."""
    tree = queue_tree({"name": "a", **queue})
    world = world_of(
        node("n", cpu=cpu),
        asked_by("one"),
        asked_by("two"),
        stack="yunikorn",
        yunikorn={"queues": tree},
    )
    advance(world, 30_000)
    world.take()
    return world


def said(world: World) -> list[str]:
    """Return what of the changes that start it now raises a limit."""
    texts = [one.text.partition(" with ")[2] for one in helps(world, TWO)]
    return [text for text in texts if " at " in text]


MAX = {"resources": {"max": {"vcore": 4}}}
OF_EACH = {"limits": [{"limit": "each", "users": ["*"], "maxresources": {"vcore": 4}}]}
ONE_EACH = {"limits": [{"limit": "each", "users": ["*"], "maxapplications": 1}]}


@pytest.mark.parametrize(
    ("queue", "change"),
    [
        (MAX, "the max of root.a at 6 vcore in place of 4 vcore"),
        (
            OF_EACH,
            "the limit of user nobody in root.a at 6 vcore in place of 4 vcore",
        ),
        ({"maxapplications": 1}, "maxapplications of root.a at 2 in place of 1"),
        (
            ONE_EACH,
            "maxapplications of user nobody in root.a at 2 in place of 1",
        ),
    ],
)
def test_the_limit_that_holds_it_is_raised_by_what_it_needs(
    queue: dict[str, Any], change: str
) -> None:
    assert said(held_back(**queue)) == [f"{change}."]


def test_all_limits_that_are_short_are_raised_together() -> None:
    found = said(held_back(**MAX, **OF_EACH))
    assert [text.count(" in place of ") for text in found] == [2]


def test_no_limit_is_raised_where_the_nodes_are_short() -> None:
    assert said(held_back(cpu=4, **MAX)) == []


def test_a_queue_that_the_configuration_does_not_name_has_no_limit_to_raise() -> None:
    tree = queue_tree({"name": "a", "parent": True, "childtemplate": MAX})
    tree["partitions"][0]["placementrules"] = [{"name": "provided", "create": True}]
    world = world_of(
        node("n", cpu=16),
        asked_by("one", "root.a.b"),
        asked_by("two", "root.a.b"),
        stack="yunikorn",
        yunikorn={"queues": tree},
    )
    advance(world, 30_000)
    world.take()
    assert said(world) == []
