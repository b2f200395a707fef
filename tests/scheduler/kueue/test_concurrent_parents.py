"""Concurrent admission: what parents and variants say, and gates of a Workload's own."""

from __future__ import annotations

from scheduler.records.objects import Key, Object
from tests.scheduler.kueue.test_concurrent_admission import (
    ON,
    a_world,
    cpu,
    family,
    queue,
    reasons,
    run,
    runs_in,
)
from tests.scheduler.kueue.test_feature_gates import GATED, at, workload_manifest


def test_the_variants_that_were_made_are_named_one_by_one():
    world = a_world(cpu("a"), of=queue(reserved=2, spot=8))
    decided = run(world, 1)
    _, variants = family(world, "a")
    assert [d.message for d in decided if d.reason == "CreatedVariant"] == [
        f'Variant Workload "default/{one.key.name}" created'
        for one in variants.values()
    ]


def test_a_variant_that_waits_for_a_migration_says_so():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="100s", arrival="1s"),
        of=queue(reserved=2, spot=8),
    )  # fmt: skip
    decided = run(world, 100)
    (waits, *_) = [d for d in decided if d.reason == "WaitingForPreemptedWorkloads"]
    assert waits.message == ". Pending the migration of 1 workload(s)"


def test_a_parent_is_evicted_whose_pods_are_not_ready_in_time():
    waiting = {**ON, "waitForPodsReady": {"timeout": "10s"}}
    world = a_world(cpu("a", ready_after="30s"), of=queue(reserved=2), kueue=waiting)
    run(world, 1)
    parent, variants = family(world, "a")
    for one in (parent, variants["reserved"]):
        assert condition(one, "PodsReady")[:2] == ("False", "WaitForStart")
    assert "PodsReadyTimeout" in reasons(run(world, 12), "job-a-")


def test_an_own_gate_of_a_workload_holds_its_variants_until_it_opens():
    held = workload_manifest()
    held["spec"] |= {"priority": 10, "priorityClassName": "high"}
    gates = {**ON["featureGates"], **GATED["featureGates"]}
    world = a_world(
        cpu("low", 1, runtime="500s"),
        of=queue(reserved=1),
        kueue={"featureGates": gates},
    )  # fmt: skip
    run(world, 1)
    key = Key("Workload", "default", "w")
    world.put(Object(key=key, manifest=held))
    run(world, 30)
    assert runs_in(world, "low") == "reserved"
    world.put(Object(key=key, manifest=held, status=at("Open")))
    assert "Preempted" in reasons(run(world, 31), "job-low-variant")


def condition(obj: Object, kind: str) -> tuple[str, str, str]:
    (found,) = [c for c in obj.status["conditions"] if c["type"] == kind]
    return found["status"], found["reason"], found["message"]
