"""Changes that a scenario brings at their time."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.assembly import InputError
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Edit, Evict, NodeChange
from scheduler.model.objects import Key
from tests.builders import (
    assembled,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
    world_of,
)

QUEUE = {"kind": "ClusterQueue", "name": "main"}


def change(at: str, target: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": "c", "annotations": {"quotalab.dev/arrival": at}},
        "spec": {"target": target, **spec},
    }


def held(world: World) -> bool:
    queue = world.objects[Key("ClusterQueue", "", "main")]
    return queue.spec.get("stopPolicy") == "Hold"


def test_a_patch_is_done_at_its_time():
    world = world_of(
        *small_cluster(), change("5s", QUEUE, patch={"spec": {"stopPolicy": "Hold"}})
    )
    simulate(world, until_ms=4_999)
    assert not held(world)
    outcome = simulate(world, until_ms=5_000)
    assert held(world)
    (edit,) = [d for d in outcome.decisions if isinstance(d, Edit)]
    assert (edit.subject.name, edit.by, edit.action) == (
        "main",
        Key("Change", "", "c"),
        "Patch",
    )


def test_a_patch_is_not_done_again_by_a_restored_world():
    world = world_of(
        *small_cluster(), change("5s", QUEUE, patch={"spec": {"stopPolicy": "Hold"}})
    )
    simulate(world, until_ms=5_000)
    again = World.decode(world.encode())
    outcome = simulate(again, until_ms=60_000)
    assert [d for d in outcome.decisions if isinstance(d, Edit)] == []


def test_a_deleted_job_is_gone_with_its_workload():
    target = {"kind": "Job", "name": "one"}
    one = job("one", queue="main", runtime="1m")
    world = world_of(*small_cluster(), one, change("5s", target, delete=True))
    simulate(world, until_ms=5_000)
    assert world.keys("Job") == world.keys("Workload") == []


def test_a_failed_node_loses_its_pods_until_it_is_back():
    target = {"kind": "Node", "name": "n1"}
    back = change("20s", target, node="recover")
    back["metadata"]["name"] = "back"
    world = world_of(
        node("n1"),
        job("one", runtime="1m"),
        change("5s", target, node="fail"),
        back,
        stack="kube",
    )
    decisions = simulate(world, until_ms=30_000).decisions
    reported = [
        (d.at_ms, type(d).__name__)
        for d in decisions
        if d.at_ms and isinstance(d, NodeChange | Evict | Bind)
    ]
    assert reported == [
        (5_000, "NodeChange"),
        (5_000, "Evict"),
        (20_000, "NodeChange"),
        (20_000, "Bind"),
    ]


def test_a_target_that_is_not_there_is_reported():
    gone = {"kind": "Pod", "name": "gone"}
    world = world_of(pod("here"), change("5s", gone, delete=True), stack="kube")
    simulate(world, until_ms=5_000)
    (problem,) = world.problems()
    assert "Pod/default/gone, which is not in this world" in problem.text


@pytest.mark.parametrize(
    ("target", "spec", "problem"),
    [
        (QUEUE, {}, "expected one of patch, delete, node: none"),
        (QUEUE, {"patch": {}, "delete": True}, "patch, delete"),
        (QUEUE, {"node": "fail"}, "expected Node, got 'ClusterQueue'"),
        ({"kind": "Node", "name": "n"}, {"node": "burn"}, "expected one of cordon"),
        ({"kind": "Nod", "name": "n"}, {"delete": True}, "unknown kind 'Nod'"),
        ({"kind": "Node"}, {"delete": True}, "spec.target.name"),
        (QUEUE, {"path": {}}, "did you mean patch?"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(target, spec, problem):
    with pytest.raises(InputError, match="spec") as refused:
        assembled(*small_cluster(), change("5s", target, **spec))
    assert problem in str(refused.value)


@pytest.mark.parametrize("stack", ["kube", "yunikorn", "kueue"])
@pytest.mark.parametrize(
    ("replicas", "left"), [(3, ["0", "1", "2"]), (1, ["0"]), (0, [])]
)
def test_a_service_that_nobody_manages_is_scaled(stack, replicas, left):
    requests = {"requests": {"cpu": "1"}}
    template = {"spec": {"containers": [{"name": "c", "resources": requests}]}}
    served = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {}, "template": template},
    }
    target = {"kind": "Deployment", "name": "web", "namespace": "default"}
    scaled = change("5s", target, patch={"spec": {"replicas": replicas}})
    world = world_of(node("n", cpu=8), served, scaled, stack=stack)
    simulate(world, until_ms=20_000)
    pods = [key for key in world.objects if key.kind == "Pod"]
    assert [key.name.removeprefix("web-main-") for key in pods] == left
    assert all(world.get(key).spec.get("nodeName") == "n" for key in pods)


@pytest.mark.parametrize(
    ("stop", "queue"), [("HoldAndDrain", "main"), ("None", "other")]
)
def test_another_queue_is_followed_by_what_waits_unless_it_is_evicted(stop, queue):
    named = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}}
    one = {"kind": "Job", "name": "one", "namespace": "default"}
    stopped = {"kind": "LocalQueue", "name": "main", "namespace": "default"}
    drain = change("5s", stopped, patch={"spec": {"stopPolicy": stop}})
    moved = change("9s", one, patch=named)
    drain["metadata"]["name"] = "d"
    cpu = 100 if stop == "None" else 1  # waiting, or evicted
    world = world_of(
        *small_cluster(),
        local_queue("other", cluster_queue="main"),
        job("one", queue="main", cpu=cpu),
        drain,
        moved,
    )
    simulate(world, until_ms=20_000)
    (workload,) = [key for key in world.objects if key.kind == "Workload"]
    assert world.get(workload).spec["queueName"] == queue


@pytest.mark.parametrize(
    ("pods", "reaches"),
    [
        ({"metadata": {"annotations": {"kueue.x-k8s.io/podset-x": "y"}}}, False),
        ({"spec": {"nodeSelector": {"zone": "a"}}}, False),
        ({"spec": {"tolerations": [{"operator": "Exists"}]}}, True),
    ],
)
def test_only_counts_resources_and_tolerations_of_an_edit_reach_a_workload(
    pods, reaches
):
    one = {"kind": "Job", "name": "one", "namespace": "default"}
    edited = change("5s", one, patch={"spec": {"template": pods}})
    world = world_of(*small_cluster(), job("one", queue="main", cpu=100), edited)
    simulate(world, until_ms=4_000)
    (key,) = [key for key in world.objects if key.kind == "Workload"]
    before = world.get(key).spec["podSets"]
    simulate(world, until_ms=9_000)
    assert (world.get(key).spec["podSets"] != before) is reaches


def test_a_new_job_set_has_no_replicated_job_of_no_replicas():
    made = job("set", queue="main")
    inner = {"template": {"spec": made["spec"]}}
    jobs = [{"name": "a", "replicas": 0, **inner}, {"name": "b", **inner}]
    made |= {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    made["spec"] = {"replicatedJobs": jobs}
    world = world_of(*small_cluster(), made)
    simulate(world, until_ms=2_000)
    (workload,) = [key for key in world.objects if key.kind == "Workload"]
    assert [one["count"] for one in world.get(workload).spec["podSets"]] == [1, 1]
