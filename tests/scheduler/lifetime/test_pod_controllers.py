"""ReplicaSets and DaemonSets make their pods, and none beside those that came."""

from __future__ import annotations

import pytest

from scheduler.engine.tick import advance, next_instant, simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import job, node, pod, small_cluster, world_of

HOUR = 3_600_000


def controller(
    kind: str, *, queue: str = "", name: str = "web", **spec: object
) -> dict:
    made = pod("x")
    labels = {"app": name, **({"kueue.x-k8s.io/queue-name": queue} if queue else {})}
    template = {"metadata": {"labels": labels}, "spec": made["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": template,
            **spec,
        },
    }


def owned(name: str, kind: str, by: str = "web", *, at: str = "n1") -> dict:
    given = pod(name)
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": by, "uid": f"uid-{by}"}
    given["metadata"]["ownerReferences"] = [reference]
    given["spec"]["nodeName"] = at
    given["status"] = {"phase": "Running"}
    return given


def settled(*objects: dict, stack: str = "kube") -> World:
    world = world_of(*objects, stack=stack)
    simulate(world, until_ms=HOUR)
    return world


def places(world: World) -> dict[str, str]:
    pods = [world.get(key) for key in world.keys("Pod")]
    return {one.key.name: one.spec.get("nodeName", "") for one in pods}


def edit(world: World, key: Key, **spec: object) -> None:
    obj = world.get(key)
    manifest = {**obj.manifest, "spec": {**obj.spec, **spec}}
    manifest["metadata"] = dict(obj.metadata)
    world.put(type(obj)(key=key, manifest=manifest))
    simulate(world, until_ms=2 * HOUR)


@pytest.mark.parametrize("stack", ["kube", "yunikorn", "kueue"])
def test_a_replica_set_has_so_many_pods_that_serve_on(stack):
    world = settled(node("n1"), controller("ReplicaSet", replicas=3), stack=stack)
    assert list(places(world).values()) == ["n1"] * 3


def test_the_pods_of_a_replica_set_wait_for_quota_each():
    made = controller("ReplicaSet", replicas=3, queue="main")
    world = settled(*small_cluster(cpu=2), node("n1"), made, stack="kueue")
    assert sorted(places(world).values()) == ["", "n1", "n1"]
    assert len(world.keys("Workload")) == 3


def test_pods_that_came_with_a_replica_set_count():
    given = [owned(name, "ReplicaSet") for name in ("web-a", "web-b")]
    world = settled(node("n1"), controller("ReplicaSet", replicas=2), *given)
    assert list(places(world)) == ["web-a", "web-b"]


def test_a_pod_of_an_earlier_replica_set_of_that_name_does_not_count():
    given = owned("web-a", "ReplicaSet")
    given["metadata"]["ownerReferences"][0]["uid"] = "another"
    world = settled(node("n1"), controller("ReplicaSet", replicas=1), given)
    assert len(places(world)) == 2


def test_a_deployment_leaves_its_pods_to_the_replica_set_that_came_with_it():
    inner = controller("ReplicaSet", replicas=2, name="inner")
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    inner["metadata"]["ownerReferences"] = [{**reference, "uid": "uid-web"}]
    given = [owned(name, "ReplicaSet", "inner") for name in ("web-a", "web-b")]
    outer = controller("Deployment", replicas=2)
    world = settled(node("n1"), outer, inner, *given)
    assert list(places(world)) == ["web-a", "web-b"]
    edit(world, Key("Deployment", "default", "web"), replicas=3)
    assert len(places(world)) == 3


def test_a_lost_pod_of_a_replica_set_is_made_again():
    world = settled(node("n1"), node("n2"), controller("ReplicaSet", replicas=2))
    world.delete(Key("Node", "", "n1"))
    simulate(world, until_ms=2 * HOUR)
    assert list(places(world).values()) == ["n2", "n2"]


def test_a_smaller_replica_set_deletes_pods_and_its_end_deletes_all():
    world = settled(node("n1"), controller("ReplicaSet", replicas=3))
    edit(world, Key("ReplicaSet", "default", "web"), replicas=1)
    assert list(places(world)) == ["web-pod-1"]
    world.delete(Key("ReplicaSet", "default", "web"))
    assert places(world) == {}


def test_a_daemon_set_has_a_pod_on_each_node_and_on_a_new_one():
    world = settled(node("n1"), node("n2"), controller("DaemonSet"))
    assert sorted(places(world).values()) == ["n1", "n2"]
    fresh = world_of(node("n3")).objects[Key("Node", "", "n3")]
    world.put(fresh)
    simulate(world, until_ms=2 * HOUR)
    assert sorted(places(world).values()) == ["n1", "n2", "n3"]
    world.delete(Key("Node", "", "n2"))
    simulate(world, until_ms=3 * HOUR)
    assert sorted(places(world).values()) == ["n1", "n3"]


def test_a_daemon_set_leaves_out_nodes_that_do_not_match_or_are_tainted():
    made = controller("DaemonSet")
    made["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    tainted, drained = node("n3", disk="ssd"), node("n4", disk="ssd")
    tainted["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    key = "node.kubernetes.io/unschedulable"
    drained["spec"] = {
        "unschedulable": True,
        "taints": [{"key": key, "effect": "NoSchedule"}],
    }
    world = settled(node("n1"), node("n2", disk="ssd"), tainted, drained, made)
    assert sorted(places(world).values()) == ["n2", "n4"]


def test_a_daemon_set_whose_template_names_a_node_has_a_pod_there_alone():
    made = controller("DaemonSet")
    made["spec"]["template"]["spec"]["nodeName"] = "n2"
    world = settled(node("n1"), node("n2"), node("n3"), made)
    assert list(places(world).values()) == ["n2"]


def test_pods_that_came_with_a_daemon_set_count():
    given = owned("web-a", "DaemonSet")
    world = settled(node("n1"), node("n2"), controller("DaemonSet"), given)
    found = places(world)
    assert found.pop("web-a") == "n1"
    assert list(found.values()) == ["n2"]


def test_a_world_that_was_stored_keeps_the_same_pods():
    world = settled(node("n1"), controller("ReplicaSet", replicas=2))
    again = world.copy()
    for one in (world, again):
        one.delete(Key("Pod", "default", "web-pod-2"))
        simulate(one, until_ms=2 * HOUR)
    assert list(places(again)) == ["web-pod-1", "web-pod-3"]
    assert again.hash() == world.hash()


@pytest.mark.parametrize("stack", ["kube", "kueue"])
def test_a_stored_world_tries_pods_beyond_a_quota_again_at_the_same_times(stack):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    world = world_of(
        *small_cluster(),
        node("n1"),
        quota,
        controller("ReplicaSet", replicas=3),
        job("wide", parallelism=2, runtime="500s"),
        stack=stack,
    )
    simulate(world, until_ms=20_000)
    again = world.copy()
    ways = [simulate(one, until_ms=300_000).decisions for one in (world, again)]
    tried = [
        [(one.at_ms, one.subject) for one in way if one.reason == "FailedCreate"]
        for way in ways
    ]
    assert len(tried[0]) > 3
    assert tried[0] == tried[1]
    assert again.hash() == world.hash()


def three_controllers() -> World:
    made = job("x", runtime="50s")
    annotations = made["metadata"]["annotations"]
    template = {"metadata": {"annotations": annotations}, "spec": made["spec"]}
    cron = controller("CronJob", name="tick")
    cron["apiVersion"] = "batch/v1"
    cron["spec"] = {"schedule": "* * * * *", "jobTemplate": template}
    return world_of(
        node("n1"),
        node("n2"),
        cron,
        controller("ReplicaSet", replicas=2),
        controller("DaemonSet", name="agent"),
        stack="kube",
        simulation={
            "latencies": {"podStart": "2s", "termination": "3s"},
            "startTime": "2026-03-01T10:00:30Z",
        },
    )


def test_a_world_stored_at_any_instant_wakes_at_the_same_ones():
    world = three_controllers()
    instants = []
    while (at := next_instant(world)) is not None and at < 240_000:
        again = World.decode(world.encode())
        assert next_instant(again) == at
        for one in (world, again):
            advance(one, at)
        assert again.hash() == world.hash()
        world = again if len(instants) % 2 else world
        instants.append(at)
    assert len(instants) > 10
    assert {key.name[:5] for key in world.keys("Pod")} >= {"web-p", "agent"}
