"""What a job gets that names no queue: the LocalQueue and the class named `default`."""

from __future__ import annotations

import pytest

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    workload_priority,
    world_of,
)

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"


def unlabelled(name: str = "j", **metadata):
    manifest = job(name)
    manifest["metadata"].pop("labels", None)
    manifest["metadata"].update(metadata)
    return manifest


def world(*more) -> World:
    queue = local_queue("default", cluster_queue="q")
    return world_of(flavor(), cluster_queue("q"), queue, *more)


def labels(found: World, name: str = "j") -> dict[str, str]:
    return found.get(Key("Job", "default", name)).labels


def test_a_job_without_a_queue_goes_to_the_local_queue_named_default():
    found = world(unlabelled())
    simulate(found, until_ms=1000)
    assert labels(found)[QUEUE] == "default"
    assert [key.kind for key in found.keys("Workload")] == ["Workload"]


def test_a_job_keeps_the_queue_that_it_names():
    found = world(job("j", queue="other"))
    assert labels(found)[QUEUE] == "other"


def test_without_such_a_queue_the_job_is_left_alone():
    found = world_of(flavor(), cluster_queue("q"), unlabelled())
    assert QUEUE not in labels(found)


def test_a_job_that_was_there_before_the_queue_gets_nothing():
    found = world_of(flavor(), cluster_queue("q"), unlabelled())
    manifest = local_queue("default", cluster_queue="q")
    found.put(Object(key=Key("LocalQueue", "default", "default"), manifest=manifest))
    simulate(found, until_ms=1000)
    assert QUEUE not in labels(found)


def test_a_job_of_a_job_follows_its_owner():
    owner = [{"kind": "JobSet", "name": "set", "uid": "u", "controller": True}]
    assert QUEUE not in labels(world(unlabelled(ownerReferences=owner)))


def test_the_priority_class_named_default_is_given_with_the_queue():
    found = world(workload_priority("default", 7), unlabelled())
    simulate(found, until_ms=1000)
    assert labels(found)[PRIORITY] == "default"
    (key,) = found.keys("Workload")
    assert found.get(key).spec["priority"] == 7


def test_a_plain_pod_goes_to_the_local_queue_named_default_and_is_gated():
    found = world(pod("p"))
    made = found.get(Key("Pod", "default", "p"))
    assert made.labels[QUEUE] == "default"
    gates = [gate["name"] for gate in made.spec["schedulingGates"]]
    assert gates == ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"]


def test_a_pod_that_stands_on_its_node_gets_no_queue():
    stands = pod("p")
    stands["spec"]["nodeName"] = "n"
    found = world(node("n"), stands)
    assert QUEUE not in found.get(Key("Pod", "default", "p")).labels


@pytest.mark.parametrize(("team", "labelled"), [("a", True), ("b", False)])
def test_only_namespaces_of_the_selector_get_default_queues(team, labelled):
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": team}},
    }
    selector = {"managedJobsNamespaceSelector": {"matchLabels": {"team": "a"}}}
    queue = local_queue("default", cluster_queue="q")
    found = world_of(
        namespace, flavor(), cluster_queue("q"), queue, unlabelled(), kueue=selector
    )
    assert (QUEUE in labels(found)) is labelled
    assert not [line for line in features_of(found) if "managedJobs" in line.text]


def test_a_gate_on_a_job_keeps_its_workload_out_until_it_is_taken_off():
    gated = job("j", queue="default")
    gated["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = "x.io/y"
    found = world(gated)
    simulate(found, until_ms=1000)
    (key,) = found.keys("Workload")
    waits = found.get(key).status["conditions"][0]
    assert waits["reason"] == "AdmissionGated"
    assert waits["message"] == "Admission is gated by: x.io/y"
    changed = job("j", queue="default")
    found.put(Object(key=Key("Job", "default", "j"), manifest=changed))
    simulate(found, until_ms=2000)
    assert found.get(key).status["conditions"][0]["status"] == "True"
