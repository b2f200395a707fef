"""A Job that is active for longer than its activeDeadlineSeconds fails."""

from __future__ import annotations

import pytest

from scheduler.engine.lifetime.runs import OVERRAN
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Finish
from scheduler.model.objects import Key
from tests.builders import job, node, small_cluster, workload_priority, world_of

LATE = Key("Job", "default", "late")
STEPS = {"latencies": {"jobStart": "2s", "termination": "5s", "release": "1s"}}


def limited(seconds: int = 30, **given: str) -> dict:
    made = job("late", queue="main", **{"runtime": "100s", **given})
    made["spec"]["activeDeadlineSeconds"] = seconds
    return made


def ends(world: World, until_s: float) -> list[tuple[float, str, str, str]]:
    found = simulate(world, until_ms=int(until_s * 1000)).decisions
    return [
        (one.at_ms / 1000, one.subject.kind, one.reason, one.message)
        for one in found
        if isinstance(one, Finish)
    ]


@pytest.mark.parametrize("nodes", [[], [node("n1")]])
def test_its_workload_finishes_as_failed_and_its_pods_are_gone(nodes):
    world = world_of(*small_cluster(), *nodes, limited())
    assert ends(world, 60) == [(30.0, "Workload", "Failed", OVERRAN)]
    status = world.get(LATE).status
    assert status["conditions"][-1]["reason"] == "DeadlineExceeded"
    assert (status["active"], world.keys("Pod")) == (0, [])


ROLE = {"replicas": 1, "template": limited()["spec"]["template"]}
OTHERS = {
    "PyTorchJob": (
        "kubeflow.org/v1",
        {
            "runPolicy": {"activeDeadlineSeconds": 30},
            "pytorchReplicaSpecs": {"Worker": ROLE},
        },
    ),
    "RayJob": (
        "ray.io/v1",
        {
            "activeDeadlineSeconds": 30,
            "submissionMode": "HTTPMode",
            "rayClusterSpec": {"headGroupSpec": ROLE},
        },
    ),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        {"replicatedJobs": [{"name": "r", "template": {"spec": limited()["spec"]}}]},
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_jobs_of_other_kinds_fail_at_theirs(kind):
    version, spec = OTHERS[kind]
    given = {"apiVersion": version, "kind": kind, "spec": spec}
    world = world_of(*small_cluster(), given | {"metadata": limited()["metadata"]})
    assert ends(world, 60) == [(30.0, "Workload", "Failed", OVERRAN)]


def test_without_kueue_the_job_itself_fails():
    world = world_of(node("n1"), limited(), stack="kube")
    assert [end[:3] for end in ends(world, 60)] == [(30.0, "Job", "Failed")]
    assert world.get(LATE).status["conditions"][-1]["reason"] == "DeadlineExceeded"
    assert world.keys("Pod") == []


@pytest.mark.parametrize("nodes", [[], [node("n1")]])
def test_it_counts_from_the_start_and_fails_when_its_pods_have_ended(nodes):
    world = world_of(*small_cluster(), *nodes, limited(), simulation=STEPS)
    assert [end[0] for end in ends(world, 60)] == [38.0]
    assert world.get(LATE).spec["suspend"] is False


@pytest.mark.parametrize("at_s", [1, 10, 33, 37.5])
def test_a_stored_world_fails_it_at_the_same_instant(at_s):
    world = world_of(*small_cluster(), node("n1"), limited(), simulation=STEPS)
    simulate(world, until_ms=int(at_s * 1000))
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    assert [end[0] for end in ends(again, 60)] == [38.0]


def test_quota_that_is_given_back_while_its_pods_end_begins_nothing_anew():
    made = limited(31, runtime="30s", parallelism=4)
    made["spec"]["completions"] = 6
    steps = {"latencies": {"completion": "2s", "termination": "5s"}}
    world = world_of(*small_cluster(), node("n1"), made, simulation=steps)
    found = simulate(world, until_ms=60_000).decisions
    assert max(one.at_ms for one in found if isinstance(one, Bind)) == 30_000
    status = world.get(LATE).status
    assert (status["succeeded"], status["failed"]) == (4, 2)


def test_it_counts_again_from_each_start():
    queue = small_cluster(within="LowerPriority")
    boss = job(
        "boss", queue="main", cpu=4, priority_class="high", runtime="5s", arrival="20s"
    )
    given = limited(seconds=30)
    world = world_of(*queue, workload_priority("high", 10), given, boss)
    assert [end[0] for end in ends(world, 100)] == [25.0, 55.0]


def test_a_job_that_ends_at_its_deadline_succeeded():
    world = world_of(*small_cluster(), limited(runtime="30s"))
    assert [end[2] for end in ends(world, 60)] == ["Succeeded"]


def test_a_run_time_taken_from_the_deadline_does_not_break_it():
    given = limited(runtime="31s", runtime_source="its deadline")
    assert [end[2] for end in ends(world_of(*small_cluster(), given), 60)] == [
        "Succeeded"
    ]
