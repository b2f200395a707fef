"""A cluster that is read while it runs: what no queue admits goes on with its pods."""

from __future__ import annotations

import pytest

from scheduler.assembly import InputError
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Evict
from scheduler.model.objects import Key
from tests.builders import job, node, pod, small_cluster, world_of
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


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
@pytest.mark.parametrize(("came", "stays"), [("30s", True), ("50s", False)])
def test_a_pod_that_names_no_node_is_collected_unless_it_comes(stack, came, stays):
    given = pod("given", runtime="60s")
    given["spec"]["nodeName"] = "n9"
    late = node("n9")
    late["metadata"]["annotations"] = {"quotalab.dev/arrival": came}
    world = world_of(node("n1"), late, given, stack=stack)
    made = simulate(world, until_ms=200_000).decisions
    said = [d.said.code for d in made if isinstance(d, Evict)]
    assert said == ([] if stays else ["befallen.noNode"])
    assert (Key("Pod", "default", "given") in world.objects) == stays


def test_a_new_pod_of_a_queue_may_not_name_its_node():
    given = pod("given", labels={"kueue.x-k8s.io/queue-name": "main"})
    given["spec"]["nodeName"] = "n1"
    with pytest.raises(InputError, match=r"spec\.nodeName n1 of a pod of a queue"):
        world_of(*small_cluster(), node("n1"), given)
