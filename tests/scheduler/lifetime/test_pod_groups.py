"""Plain pods and groups of them under Kueue: who goes, who stays, who is made again."""

from __future__ import annotations

import copy

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.model.reasons import condition
from tests.builders import job, node, pod, small_cluster, workload_priority, world_of

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST = "kueue.x-k8s.io/pod-group-fast-admission"
QUEUE = "kueue.x-k8s.io/queue-name"
GATE = {"name": "kueue.x-k8s.io/admission"}
WORKLOAD = Key("Workload", "default", "g")


def member(name: str, *, total: int = 2, fast: bool = False, **given: str) -> dict:
    made = pod(name, labels={QUEUE: "main", GROUP: "g"}, **({"runtime": "60s"} | given))
    made["metadata"]["annotations"] |= {TOTAL: str(total)}
    if fast:
        made["metadata"]["annotations"][FAST] = "true"
    return made


def lone(name: str, **given: str) -> dict:
    return pod(name, labels={QUEUE: "main"}, **({"runtime": "60s"} | given))


def small(*manifests: dict, **queue: str) -> World:
    queue = {"within": "LowerPriority"} | queue
    return world_of(*small_cluster(**queue), node("n", cpu=8), *manifests)


def run(world: World, seconds: int) -> World:
    simulate(world, until_ms=seconds * 1000)
    return world


def add(world: World, made: dict) -> None:
    key = Key("Pod", "default", made["metadata"]["name"])
    world.put(Object(key=key, manifest=copy.deepcopy(made)))


def phases(world: World) -> dict[str, str]:
    found = {key.name: world.get(key) for key in world.keys("Pod")}
    return {
        name: "Terminating"
        if "deletionTimestamp" in one.metadata
        else one.status["phase"]
        for name, one in found.items()
    }


def waits(world: World) -> tuple[str, str] | None:
    found = condition(world.get(WORKLOAD).status, "WaitingForReplacementPods")
    return None if found is None else (found["status"], found["reason"])


def test_a_plain_pod_that_is_deleted_takes_its_workload_along():
    world = run(small(lone("p"), lone("q")), 2)
    world.delete(Key("Pod", "default", "p"))
    run(world, 4)
    assert phases(world) == {"q": "Running"}
    assert len(world.keys("Workload")) == 1


def test_a_workload_that_is_deleted_takes_its_plain_pod_along():
    world = run(small(lone("p")), 2)
    [workload] = world.keys("Workload")
    world.delete(workload)
    assert not run(world, 4).keys("Pod")


@pytest.mark.parametrize("slow", [{}, {"suspension": "100ms", "termination": "1s"}])
def test_a_plain_pod_that_is_preempted_is_gone(slow):
    urgent = job("u", queue="main", cpu=4, priority_class="high", arrival="3s")
    world = world_of(
        *small_cluster(within="LowerPriority"),
        node("n", cpu=8),
        workload_priority("high", 10),
        lone("p"),
        urgent | {"metadata": {**urgent["metadata"]}},
        simulation={"latencies": slow} if slow else {},
    )
    run(world, 8)
    assert "p" not in phases(world)
    assert [key.name[:5] for key in world.keys("Workload")] == ["job-u"]


def test_a_group_waits_for_a_pod_in_the_place_of_one_that_was_deleted():
    world = run(small(member("p1"), member("p2")), 2)
    world.delete(Key("Pod", "default", "p1"))
    run(world, 4)
    assert phases(world) == {"p1": "Terminating", "p2": "Running"}
    assert waits(world) == ("True", "PodsFailed")
    add(world, member("p3"))
    run(world, 6)
    assert phases(world) == {"p2": "Running", "p3": "Running"}
    assert waits(world) == ("False", "PodsReady")


def test_a_preempted_group_queues_again_when_all_its_pods_are_replaced():
    urgent = job(
        "u", queue="main", cpu=4, priority_class="high", runtime="5s", arrival="3s"
    )
    world = run(
        small(workload_priority("high", 10), member("p1"), member("p2"), urgent), 5
    )
    assert phases(world) | {} == {"p1": "Terminating", "p2": "Terminating"} | {
        name: "Running" for name in phases(world) if name.startswith("job-u")
    }
    assert waits(world) == ("True", "Preempted")
    add(world, member("p3"))
    run(world, 12)
    assert waits(world) == ("True", "Preempted")
    add(world, member("p4"))
    run(world, 15)
    assert phases(world) == {"p3": "Running", "p4": "Running"}


def test_a_pod_above_the_total_is_deleted():
    world = run(small(member("p1"), member("p2")), 2)
    add(world, member("p3"))
    assert phases(run(world, 4)) == {"p1": "Running", "p2": "Running"}


def test_a_second_pod_joins_a_group_of_fast_admission():
    world = run(small(member("p1", fast=True)), 2)
    assert phases(world) == {"p1": "Running"}
    add(world, member("p2", fast=True))
    assert phases(run(world, 4)) == {"p1": "Running", "p2": "Running"}


def test_pods_of_a_group_end_one_by_one_and_give_their_quota_back():
    pods = member("p1", runtime="5s"), member("p2", runtime="20s")
    later = lone("two", cpu=2, arrival="6s"), lone("one", arrival="7s")
    world = run(small(*pods, *later, cpu=2), 10)
    assert phases(world) == {
        "p1": "Succeeded",
        "p2": "Running",
        "two": "Pending",
        "one": "Running",
    }
    status = world.get(WORKLOAD).status
    assert [one["count"] for one in status["reclaimablePods"]] == [1]
    status = run(world, 25).get(WORKLOAD).status
    assert condition(status, "Finished")["reason"] == "Succeeded"


def test_a_group_that_is_deleted_by_its_workload_is_gone():
    world = run(small(member("p1"), member("p2")), 2)
    world.delete(WORKLOAD)
    assert not run(world, 4).keys("Pod")


def test_a_group_is_ready_when_each_of_its_pods_is():
    late = {"ready_after": "6s"}
    waiting = {"kueue": {"waitForPodsReady": {"timeout": "20s"}}}
    made = [member("p1"), member("p2", **late)]
    world = world_of(*small_cluster(), node("n", cpu=8), *made, **waiting)
    run(world, 4)
    found = condition(world.get(WORKLOAD).status, "PodsReady")
    assert found is None or found["status"] == "False"
    run(world, 9)
    assert condition(world.get(WORKLOAD).status, "PodsReady")["status"] == "True"


@pytest.mark.parametrize("at_s", [1, 3, 5, 9, 12])
def test_a_stored_world_of_groups_goes_on(at_s):
    urgent = job(
        "u", queue="main", cpu=4, priority_class="high", runtime="5s", arrival="3s"
    )
    given = [member("p1", runtime="2s"), member("p2"), lone("q", arrival="4s")]
    later = [member("p3", arrival="10s"), member("p4", arrival="11s")]
    made = [workload_priority("high", 10), urgent, *given, *later]
    world = run(small(*made), at_s)
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    for until in range(at_s + 1, 30):
        run(world, until)
        run(again, until)
        assert again.hash() == world.hash()


def serving(kind: str, replicas: int, **given: object) -> dict:
    made = job(kind.lower(), queue="main") | {"apiVersion": "apps/v1", "kind": kind}
    template = copy.deepcopy(made["spec"]["template"])
    template["spec"].pop("restartPolicy")
    made["spec"] = {"replicas": replicas, "template": template, **given}
    return made


def scaled(world: World, kind: str, replicas: int) -> None:
    [key] = world.keys(kind)
    manifest = copy.deepcopy(world.objects[key].manifest)
    manifest["spec"]["replicas"] = replicas
    world.put(Object(key=key, manifest=manifest))


def gated(world: World) -> list[bool]:
    pods = [world.objects[key] for key in world.keys("Pod")]
    return sorted(GATE in (one.spec.get("schedulingGates") or []) for one in pods)


def test_pods_of_a_deployment_wait_gated_and_each_has_a_workload():
    world = run(small(serving("Deployment", 6)), 4)
    assert gated(world) == [False] * 4 + [True] * 2
    assert len(world.keys("Workload")) == 6
    scaled(world, "Deployment", 1)
    run(world, 8)
    assert (gated(world), len(world.keys("Workload"))) == ([False], 1)
    scaled(world, "Deployment", 0)
    run(world, 12)
    scaled(world, "Deployment", 2)
    assert gated(run(world, 16)) == [False, False]


def test_another_pod_comes_in_the_place_of_a_deleted_one_of_a_deployment():
    world = run(small(serving("Deployment", 2)), 4)
    before = world.keys("Pod")
    world.delete(before[0])
    after = run(world, 8).keys("Pod")
    assert (len(after), before[0] in after) == (2, False)
    assert len(world.keys("Workload")) == 2


def test_another_template_makes_another_replica_set():
    world = run(small(serving("Deployment", 2)), 4)
    [key] = world.keys("Deployment")
    manifest = copy.deepcopy(world.objects[key].manifest)
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    world.put(Object(key=key, manifest=manifest))
    run(world, 8)
    assert len(world.keys("ReplicaSet")) == 2
    images = [
        world.objects[one].spec["containers"][0]["image"] for one in world.keys("Pod")
    ]
    assert images == ["other", "other"]


def test_a_deployment_that_is_deleted_leaves_nothing():
    world = run(small(serving("Deployment", 2)), 4)
    world.delete(world.keys("Deployment")[0])
    run(world, 8)
    assert not [*world.keys("Pod"), *world.keys("Workload"), *world.keys("ReplicaSet")]


@pytest.mark.parametrize(("policy", "waiting"), [("OrderedReady", 1), ("Parallel", 6)])
def test_pods_of_a_stateful_set_wait_gated(policy, waiting):
    world = run(small(serving("StatefulSet", 6, podManagementPolicy=policy)), 4)
    assert gated(world) == [True] * waiting
    again = World.decode(world.encode())
    assert run(again, 8).hash() == run(world, 8).hash()


def test_a_stateful_set_that_loses_its_quota_waits_gated():
    urgent = job("u", queue="main", cpu=4, priority_class="high", arrival="3s")
    made = [workload_priority("high", 10), serving("StatefulSet", 2), urgent]
    world = run(small(*made), 8)
    assert True in gated(world)


def test_a_stateful_set_scaled_to_none_is_on_hold_until_it_is_scaled_up():
    world = run(small(serving("StatefulSet", 2)), 4)
    [workload] = world.keys("Workload")
    scaled(world, "StatefulSet", 0)
    run(world, 8)
    found = condition(world.get(workload).status, "QuotaReserved")
    assert (found["status"], found["reason"], gated(world)) == ("False", "OnHold", [])
    again = World.decode(world.encode())
    for one in (world, again):
        scaled(one, "StatefulSet", 1)
        run(one, 12)
        assert gated(one) == [False]
        assert one.get(workload).spec["podSets"][0]["count"] == 2
    assert again.hash() == world.hash()


def test_a_stateful_set_scaled_to_none_had_no_workload_before_0_17_7():
    world = small(serving("StatefulSet", 2))
    document = world.policy.document()
    document["spec"]["release"] = {"kueue": "0.17.6"}
    world.set_policy(read_policy(document))
    run(world, 4)
    scaled(world, "StatefulSet", 0)
    run(world, 8)
    assert (world.keys("Workload"), gated(world)) == ([], [])
    scaled(world, "StatefulSet", 1)
    run(world, 12)
    [workload] = world.keys("Workload")
    assert world.get(workload).spec["podSets"][0]["count"] == 1


def test_pods_of_different_queues_make_no_workload_until_they_agree():
    other = member("p2")
    other["metadata"]["labels"][QUEUE] = "second"
    world = run(small(member("p1"), other), 2)
    assert WORKLOAD not in world.objects
    edited = copy.deepcopy(world.get(Key("Pod", "default", "p2")).manifest)
    edited["metadata"]["labels"][QUEUE] = "main"
    add(world, edited)
    assert phases(run(world, 4)) == {"p1": "Running", "p2": "Running"}
