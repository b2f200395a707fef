"""Annotations of a namespace set the quota of the queue that a rule made for it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import queue_tree
from tests.scheduler.yunikorn.clusters import pod, run, world

BY_NAMESPACE = queue_tree(
    {"name": "own"},
    placementrules=[{"name": "tag", "value": "namespace", "create": True}],
)


BELOW_A_PARENT = queue_tree(
    {"name": "tenants", "parent": True},
    placementrules=[
        {
            "name": "tag",
            "value": "namespace",
            "create": True,
            "parent": {"name": "tag", "value": "namespace.parentqueue"},
        }
    ],
)


def _world(*, queues: dict[str, Any] = BY_NAMESPACE, **annotations: str) -> World:
    made = world(queues=queues, laws="released")
    given = {f"yunikorn.apache.org/{k}": v for k, v in annotations.items()}
    made.put(
        Object(
            key=Key("Namespace", "", "default"),
            manifest={
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "default", "annotations": given},
            },
        )
    )
    return made


def _bound(made: World) -> int:
    return sum("nodeName" in made.get(key).spec for key in made.keys("Pod"))


def _limited(made: World, count: int = 4) -> int:
    for number in range(count):
        made.put(pod(f"p{number}", "", labels={"applicationId": f"a{number}"}))
    run(made, 2)
    return _bound(made)


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({"namespace.quota": '{"cpu": "2"}'}, id="a map"),
        pytest.param({"namespace.max.cpu": "2"}, id="the older way"),
        pytest.param(
            {"namespace.quota": '{"cpu": "2"}', "namespace.max.cpu": "3"}, id="both"
        ),
        pytest.param({"namespace.maxApps": "2"}, id="applications"),
    ],
)
def test_a_quota_of_the_namespace_limits_its_queue(annotations: dict[str, str]) -> None:
    assert _limited(_world(**annotations)) == 2


def test_without_annotations_nothing_is_limited() -> None:
    assert _limited(_world()) == 4


@pytest.mark.parametrize("text", ["{", '{"cpu": 2}', '{"cpu": "two"}', '{"cpu": "0"}'])
def test_a_quota_that_cannot_be_read_is_ignored_with_a_notice(text: str) -> None:
    made = _world(**{"namespace.quota": text})
    assert _limited(made) == 4
    assert any("ignored" in problem.text for problem in made.problems())


def test_a_quota_survives_a_restart() -> None:
    made = _world(**{"namespace.quota": '{"cpu": "2"}'})
    _limited(made)
    again = World.decode(made.encode())
    run(again, 5)
    assert _bound(again) == 2


def test_a_configured_queue_keeps_its_own_quota() -> None:
    made = _world(**{"namespace.quota": '{"cpu": "1"}'})
    queue = made.yunikorn.partition.queue("root.own") if made.yunikorn else None
    assert queue is not None
    _limited(made)
    assert queue.max is None


def test_a_namespace_guarantees_its_queue_an_amount() -> None:
    made = _world(**{"namespace.guaranteed": '{"cpu": "2"}'})
    _limited(made, 1)
    queue = made.yunikorn.partition.queue("root.default") if made.yunikorn else None
    assert queue is not None
    assert queue.guaranteed == {"vcore": 2000}


def test_a_namespace_names_the_parent_of_its_queue() -> None:
    made = _world(queues=BELOW_A_PARENT, parentqueue="root.tenants")
    _limited(made, 1)
    partition = made.yunikorn.partition if made.yunikorn else None
    assert partition is not None
    assert partition.apps["a0"].queue.path == "root.tenants.default"
