"""A running cluster goes on with jobs of every kind: what succeeded is not run again."""

from __future__ import annotations

import pytest

from scheduler.engine.lifetime.admission import POD_SET
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.tick import run_tick, simulate
from scheduler.model.decisions import Finish
from scheduler.model.objects import Key
from tests.builders import node, small_cluster
from tests.scheduler.test_continuing import (
    READ,
    READY,
    admitted,
    clock,
    condition,
    names,
    owner,
    pod,
    running_job,
    template,
    workload,
    world_of,
)

API = {
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "PyTorchJob": "kubeflow.org/v1",
    "MPIJob": "kubeflow.org/v2beta1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "Pod": "v1",
}
LABELS = {"kueue.x-k8s.io/queue-name": "main"}


def reference(kind: str, name: str) -> dict:
    uid = f"uid-{name}"
    return {"apiVersion": API[kind], "kind": kind, "name": name, "uid": uid}


def job(kind: str, **spec) -> dict:
    metadata = {"name": "x", "namespace": "default", "uid": "uid-x", "labels": LABELS}
    return {"apiVersion": API[kind], "kind": kind, "metadata": metadata, "spec": spec}


def workload_for(kind: str, name: str, /, **counts: int) -> dict:
    """A Workload that was admitted with these pod sets, and works for 10 minutes."""
    made = workload("x", conditions=admitted(condition("PodsReady", READY)))
    made["metadata"] |= {
        "name": f"{kind.lower()}-{name}",
        "ownerReferences": [reference(kind, name)],
        "annotations": {"quotalab.dev/runtime": "10m"},
    }
    made["spec"]["podSets"] = [
        {"name": part, "count": count, "template": template()}
        for part, count in counts.items()
    ]
    made["status"]["admission"]["podSetAssignments"] = [
        {
            "name": part,
            "count": count,
            "flavors": {"cpu": "default"},
            "resourceUsage": {"cpu": str(count)},
        }
        for part, count in counts.items()
    ]
    return made


def over(given: dict) -> dict:
    conditions = [condition("Ready", READ, "False")]
    return {**given, "status": {"phase": "Succeeded", "conditions": conditions}}


def part_of(part: str, given: dict) -> dict:
    given["metadata"].setdefault("labels", {})[POD_SET] = part
    return given


def going_on(*objects: dict):
    return world_of(*small_cluster(), node("n1"), clock(), *objects, latencies={})


def finished(world) -> list[tuple[str, int]]:
    """Return what ends, and how many seconds after the cluster was read."""
    outcome = simulate(world, until_ms=10**7)
    return [
        (one.subject.kind, one.at_ms // 1000)
        for one in outcome.decisions
        if isinstance(one, Finish)
    ]


def replicas(count: int) -> dict:
    return {"replicas": count, "template": template()}


ROLES = {
    "PyTorchJob": {
        "pytorchReplicaSpecs": {"Master": replicas(1), "Worker": replicas(2)}
    },
    "MPIJob": {"mpiReplicaSpecs": {"Launcher": replicas(1), "Worker": replicas(2)}},
}


@pytest.mark.parametrize("kind", ROLES)
def test_a_succeeded_pod_of_one_role_is_not_made_again(kind):
    first = "master" if kind == "PyTorchJob" else "launcher"
    world = going_on(
        job(kind, **ROLES[kind]),
        workload_for(kind, "x", **{first: 1, "worker": 2}),
        part_of(first, pod("x-first", of=reference(kind, "x"))),
        part_of("worker", pod("x-worker-0", of=reference(kind, "x"))),
        over(part_of("worker", pod("x-worker-1", of=reference(kind, "x")))),
    )
    run_tick(world)
    assert names(world, "Pod") == ["x-first", "x-worker-0", "x-worker-1"]
    assert finished(world) == [("Workload", 310)]


def replicated(part: str, count: int, *, completions: int = 0) -> dict:
    spec = {
        "parallelism": count,
        "completions": completions or count,
        "template": template(),
    }
    return {"name": part, "replicas": 1, "template": {"spec": spec}}


def child_job(name: str, pods: int) -> dict:
    made = running_job(name, pods=pods)
    made["metadata"] |= {"labels": {}, "ownerReferences": [reference("JobSet", "x")]}
    return made


def test_pods_of_the_jobs_of_a_job_set_are_its_own():
    world = going_on(
        job("JobSet", replicatedJobs=[replicated("a", 2), replicated("b", 1)]),
        workload_for("JobSet", "x", a=2, b=1),
        child_job("x-a-0", 2),
        child_job("x-b-0", 1),
        part_of("a", pod("x-a-0-0", of=owner("Job", "x-a-0"))),
        over(part_of("a", pod("x-a-0-1", of=owner("Job", "x-a-0")))),
        part_of("b", pod("x-b-0-0", of=owner("Job", "x-b-0"))),
    )
    run_tick(world)
    assert names(world, "Pod") == ["x-a-0-0", "x-a-0-1", "x-b-0-0"]
    assert finished(world) == [("Workload", 310)]


def test_a_job_set_makes_the_pods_that_still_have_to_succeed():
    world = going_on(
        job("JobSet", replicatedJobs=[replicated("a", 2, completions=4)]),
        workload_for("JobSet", "x", a=2),
        child_job("x-a-0", 2),
        pod("x-a-0-0", of=owner("Job", "x-a-0")),
        over(pod("x-a-0-1", of=owner("Job", "x-a-0"))),
    )
    run_tick(world)
    assert len(names(world, "Pod")) == 3


def member(name: str) -> dict:
    made = pod(name, of=reference("Pod", "nobody"))
    del made["metadata"]["ownerReferences"]
    group = {"kueue.x-k8s.io/pod-group-name": "x"}
    made["metadata"]["labels"] = {**LABELS, **group}
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    return made


def group_workload() -> dict:
    made = workload_for("Pod", "x-0", main=2)
    made["metadata"]["name"] = "x"
    return made


def test_a_succeeded_pod_of_a_group_is_not_made_again():
    world = going_on(group_workload(), member("x-0"), over(member("x-1")))
    run_tick(world)
    assert names(world, "Pod") == ["x-0", "x-1"]
    assert finished(world) == [("Workload", 310)]


def test_a_group_of_which_all_succeeded_ends():
    world = going_on(group_workload(), over(member("x-0")), over(member("x-1")))
    assert finished(world) == [("Workload", 0)]


def test_what_serves_is_made_again_however_it_ended():
    pods = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template()}}
    world = going_on(
        job("LeaderWorkerSet", replicas=1, **pods),
        workload_for("LeaderWorkerSet", "x", main=2),
        pod("x-0", of=reference("LeaderWorkerSet", "x")),
        over(pod("x-0-1", of=reference("LeaderWorkerSet", "x"))),
    )
    run_tick(world)
    assert len(names(world, "Pod")) == 3


def test_pods_that_succeeded_are_known_after_a_restore():
    run = Run(owner=Key("Workload", "default", "x"), ended={"main": 1})
    assert Run.from_state(run.owner, run.state()) == run
