"""Pods beyond a ResourceQuota: when they are tried again, and what a quota counts."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.tick import next_instant, simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import job, node, small_cluster, world_of
from tests.scheduler.lifetime.test_pod_controllers import controller, places
from tests.scheduler.lifetime.test_pod_groups import gated, serving
from tests.scheduler.lifetime.test_reconcilers import JOB, edited, workloads
from tests.scheduler.lifetime.test_rounds import by_hand

QUOTA = Key("ResourceQuota", "default", "q")


def quota(hard: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": hard},
    }


def of_queue(name: str, queue: str, replicas: int) -> dict[str, Any]:
    """Return a ReplicaSet whose pods are an application of a queue of YuniKorn."""
    made = controller("ReplicaSet", replicas=replicas, name=name)
    labels = {"app": name, "applicationId": name, "queue": queue}
    made["spec"]["template"]["metadata"]["labels"] = labels
    return made


def tried_at(world: World, until_s: int) -> list[int]:
    """Return when (s) a pod was refused from now on."""
    done = simulate(world, until_ms=1000 * until_s).decisions
    return [one.at_ms // 1000 for one in done if one.reason == "FailedCreate"]


@pytest.mark.parametrize("kind", ["DaemonSet", "ReplicaSet"])
def test_a_controller_that_lacks_several_pods_tries_once_and_ever_later(kind):
    nodes = [node(f"n{number}") for number in range(4)]
    spec = {} if kind == "DaemonSet" else {"replicas": 4}
    world = world_of(*nodes, quota({"pods": "1"}), controller(kind, **spec))
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]


def test_pods_that_topology_places_are_tried_ever_later():
    level = "kubernetes.io/hostname"
    objects = small_cluster()
    objects[0]["spec"] = {"topologyName": "t", "nodeLabels": {"pool": "m"}}
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Topology",
        "metadata": {"name": "t"},
        "spec": {"levels": [{"nodeLabel": level}]},
    }
    placed = node("n1", cpu=8)
    placed["metadata"]["labels"] = {"pool": "m", level: "n1"}
    wide = job("wide", queue="main", parallelism=3, runtime="60s")
    asked = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}
    wide["spec"]["template"]["metadata"] = {"annotations": asked}
    world = world_of(*objects, topology, placed, quota({"pods": "1"}), wide)
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_set_that_waits_for_quota_gets_gated_pods_when_it_may_have_them(policy):
    made = serving("StatefulSet", 6, podManagementPolicy=policy)
    world = world_of(*small_cluster(), node("n", cpu=8), quota({"pods": "0"}), made)
    simulate(world, until_ms=4_000)
    world.delete(QUOTA)
    simulate(world, until_ms=40_000)
    assert gated(world) == [True] * (1 if policy == "OrderedReady" else 6)


def test_who_has_its_pods_begins_anew_with_the_next_quota():
    world = world_of(node("n1"), quota({"pods": "0"}), controller("ReplicaSet"))
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]
    world.delete(QUOTA)
    assert tried_at(world, 100) == []
    world.put(Object(key=QUOTA, manifest=quota({"pods": "0"})))
    world.delete(Key("Pod", "default", *places(world)))
    assert tried_at(world, 40) == [31, 32, 34, 38]


def test_a_job_that_a_person_suspended_begins_its_tries_anew():
    world = world_of(node("n1"), quota({"pods": "0"}), job("j"))
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]
    edited(world, JOB, suspend=True)
    simulate(world, until_ms=20_000)
    edited(world, JOB, suspend=False)
    assert tried_at(world, 23) == [15, 16, 18, 22]


def test_a_job_whose_workload_was_deactivated_begins_its_tries_anew():
    made = job("j", queue="main")
    world = world_of(*small_cluster(), node("n1"), quota({"pods": "0"}), made)
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]
    edited(world, workloads(world)[0].key, active=False)
    simulate(world, until_ms=20_000)
    edited(world, workloads(world)[0].key, active=True)
    assert tried_at(world, 23) == [15, 16, 18, 22]


def test_a_job_that_failed_by_its_deadline_is_not_said_to_lack_pods():
    made = job("j")
    made["spec"]["activeDeadlineSeconds"] = 5
    world = world_of(node("n1"), quota({"pods": "0"}), made)
    assert tried_at(world, 60) == [0, 1, 3]
    assert world.lifetime.job_stage.quotas.refusals == {}


def test_a_set_that_asks_for_none_while_it_waits_begins_its_tries_anew():
    made, key = serving("StatefulSet", 1), Key("StatefulSet", "default", "statefulset")
    full = quota({"pods": "0"})
    world = world_of(*small_cluster(cpu=0), node("n1"), full, made)
    assert tried_at(world, 20) == [0, 1, 3, 7, 15]
    edited(world, key, replicas=0)
    simulate(world, until_ms=20_000)
    edited(world, key, replicas=1)
    assert tried_at(world, 23) == [15, 16, 18, 22]


@pytest.mark.parametrize("kind", ["ReplicaSet", "DaemonSet"])
def test_pods_that_were_refused_use_up_no_number(kind):
    held = world_of(node("n1"), quota({"pods": "0"}), controller(kind))
    assert tried_at(held, 5) == [0, 1, 3]
    held.delete(QUOTA)
    simulate(held, until_ms=9_000)
    assert [*places(held)] == ["web-pod-1"]


def test_a_controller_that_has_its_pods_is_not_woken_by_its_last_try():
    world = world_of(node("n1"), quota({"pods": "0"}), controller("DaemonSet"))
    simulate(world, until_ms=20_000)
    world.delete(QUOTA)
    world.put(Object(key=Key("Node", "", "n2"), manifest=node("n2")))
    simulate(world, until_ms=25_000)
    assert len(places(world)) == 2
    assert next_instant(world) != 31_000


@pytest.mark.parametrize(
    "hard", [["pods"], {"pods": "many"}, {"pods": None}, "pods", {"cpu": []}]
)
def test_a_quota_that_cannot_be_read_holds_no_pod_and_is_told_of(hard):
    world = world_of(node("n1"), quota(hard), controller("ReplicaSet", replicas=3))
    assert tried_at(world, 5) == []
    assert len(places(world)) == 3
    [problem] = world.context.journal.take_problems()
    assert problem.text.startswith("ResourceQuota/default/q: ")


@pytest.mark.parametrize("looked", [False, True])
def test_a_pod_that_yunikorn_rejected_holds_no_quota_whoever_looked(looked):
    queues = {
        "name": "default",
        "placementrules": [{"name": "provided", "create": False}],
        "queues": [{"name": "root", "queues": [{"name": "known"}]}],
    }
    world = world_of(
        node("n1"),
        quota({"pods": "2"}),
        of_queue("rejected", "root.unknown", 2),
        stack="yunikorn",
        yunikorn={"queues": {"partitions": [queues]}},
    )
    simulate(world, until_ms=5_000)
    if looked:
        world.freshen()
    other = of_queue("other", "root.known", 1)
    world.put(Object(key=Key("ReplicaSet", "default", "other"), manifest=other))
    assert tried_at(world, 8) == []
    assert places(world)["other-pod-1"] == "n1"


def test_tries_that_are_refused_lose_no_work_that_checkpoints_kept():
    made = job("rounds", parallelism=2, runtime="60s", checkpoint_every="10s")
    hands = [by_hand("45s", suspend=True), by_hand("50s", suspend=False)]
    world = world_of(node("n1"), made, *hands)
    simulate(world, until_ms=1_000)
    world.put(Object(key=QUOTA, manifest=quota({"pods": "0"})))
    assert tried_at(world, 55) == [50, 51, 53]
    world.delete(QUOTA)
    done = simulate(world, until_ms=300_000).decisions
    assert [d.at_ms for d in done if d.reason == "Succeeded"] == [77_000]
