"""Explanations of workloads that wait for checks, or behind who used less."""

from __future__ import annotations

from scheduler.analysis.explain.workloads import explain
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue, flavor, job, local_queue, world_of

BUDGET = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "AdmissionCheck",
    "metadata": {"name": "budget"},
    "spec": {"controllerName": "example.com/budget"},
}


def checked(**rule: object) -> World:
    queue = cluster_queue("main")
    checks = {"admissionChecks": [{"name": "budget"}]}
    queue["spec"]["admissionChecksStrategy"] = checks
    return world_of(
        flavor(),
        BUDGET,
        queue,
        local_queue("main", cluster_queue="main"),
        job("one", queue="main", cpu=1, runtime="10s"),
        simulation={"admissionChecks": [{"check": "budget", **rule}]},
    )


def workload(world: World) -> Key:
    return world.keys("Workload")[0]


def test_a_reservation_says_which_checks_it_waits_for_and_until_when():
    world = checked(after="30s")
    simulate(world, until_ms=5_000)
    found = explain(world, workload(world))
    assert found.state == "reserved"
    (row,) = found.checks
    assert (row.name, row.state, row.answers_ms) == ("budget", "Pending", 30_000)
    since = world.get(workload(world)).status["admissionChecks"][0]
    stamp = stamp_us(since["lastTransitionTime"])
    assert row.since_ms == world.context.ms(stamp) < 5_000
    assert "budget (Pending, answered at 30 s)" in found.sentences[-1]


def test_a_person_answers_a_check_by_its_status():
    world = checked(byHand=True)
    simulate(world, until_ms=5_000)
    known = world.get(workload(world))
    answer = {"name": "budget", "state": "Ready", "message": "go"}
    status = {"admissionChecks": [answer]}
    world.put(Object(key=known.key, manifest=dict(known.manifest), status=status))
    simulate(world, until_ms=6_000)
    assert explain(world, known.key).state == "admitted"


def test_usage_of_each_local_queue_is_listed_least_first():
    queue = cluster_queue("main", cpu=1)
    mode = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    queue["spec"]["admissionScope"] = mode
    world = world_of(
        flavor(),
        queue,
        local_queue("used", cluster_queue="main"),
        local_queue("fresh", cluster_queue="main"),
        job("first", queue="used", cpu=1, runtime="60s"),
        job("second", queue="used", cpu=1, runtime="60s", arrival="1s"),
        kueue={"admissionFairSharing": {"usageHalfLifeTime": "1m"}},
    )
    simulate(world, until_ms=5_000)
    waiting = next(k for k in world.keys("Workload") if "second" in k.name)
    found = explain(world, waiting)
    names = [row.local_queue.split("/")[-1] for row in found.usage]
    assert names == ["fresh", "used"]
    assert "number 2 of 2" in found.sentences[-1]
