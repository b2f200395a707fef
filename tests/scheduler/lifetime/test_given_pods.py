"""A cluster that is read while it runs: what no queue admits goes on with its pods."""

from __future__ import annotations

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import job, node, pod, world_of
from tests.scheduler.lifetime.test_pod_controllers import controller


def came_with_pods(kind: str, stack: str) -> World:
    """Return the world of a job without a queue that ran with two pods, one deleted now."""
    if kind == "Job":
        owner = job("web", runtime="60s", parallelism=2)
        owner["spec"]["completions"] = 2
    else:
        owner = controller(kind, replicas=2)
    of = {"apiVersion": owner["apiVersion"], "kind": kind, "name": "web"}
    labels = owner["spec"]["template"].get("metadata", {}).get("labels", {})
    ready = [{"type": name, "status": "True"} for name in ("PodScheduled", "Ready")]
    pods = []
    for ending in "0", "abcde":
        one = pod(f"web-{ending}", cpu=1)
        one["metadata"]["labels"] = dict(labels)
        one["metadata"]["ownerReferences"] = [{**of, "uid": "u", "controller": True}]
        one["spec"]["nodeName"] = "n1"
        one["status"] = {"phase": "Running", "conditions": ready}
        pods.append(one)
    owner["metadata"]["uid"] = "u"
    return world_of(node("n1", cpu=8), owner, *pods, stack=stack)


@pytest.mark.parametrize("stack", ["kube", "kueue", "yunikorn"])
@pytest.mark.parametrize("kind", ["Job", "Deployment", "ReplicaSet", "StatefulSet"])
def test_what_no_queue_admits_keeps_the_pods_that_it_came_with(kind, stack):
    world = came_with_pods(kind, stack)
    simulate(world, until_ms=5_000)
    assert [key.name for key in sorted(world.keys("Pod"))] == ["web-0", "web-abcde"]


@pytest.mark.parametrize("stack", ["kube", "kueue", "yunikorn"])
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_pod_that_it_came_with_is_made_up_for_when_it_goes(kind, stack):
    world = came_with_pods(kind, stack)
    simulate(world, until_ms=5_000)
    world.delete(Key("Pod", "default", "web-0"))
    simulate(world, until_ms=9_000)
    names = [key.name for key in sorted(world.keys("Pod"))]
    assert names == ["web-abcde", "web-main-0"]


def test_work_that_no_queue_admits_ends_with_the_pods_that_it_came_with():
    world = came_with_pods("Job", "kube")
    simulate(world, until_ms=120_000)
    conditions = world.get(Key("Job", "default", "web")).status["conditions"]
    assert "Complete" in {one["type"] for one in conditions}
