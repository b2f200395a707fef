"""What a job gets that names no queue: the LocalQueue and the class named `default`."""

from __future__ import annotations

from scheduler.records.objects import Key, Object
from scheduler.simulation import simulate
from scheduler.world import World
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
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
