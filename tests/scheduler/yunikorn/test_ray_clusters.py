"""Ray clusters under YuniKorn: the application and task groups that KubeRay gives pods."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from tests.builders import node

APPLICATION = {
    "yunikorn.apache.org/app-id": "app",
    "yunikorn.apache.org/queue": "root.a",
}
GANG = {**APPLICATION, "ray.io/gang-scheduling-enabled": "true"}


def template(cpu: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}}
    return {"spec": {"containers": [{"name": "ray", "resources": resources}]}}


def cluster(labels: dict[str, str], **worker: Any) -> dict[str, Any]:
    group = {"groupName": "small", "replicas": 2, "minReplicas": 2, **worker}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "ray", "namespace": "default", "labels": labels},
        "spec": {
            "headGroupSpec": {"template": template(1)},
            "workerGroupSpecs": [{**group, "template": template(1)}],
        },
    }


def world(labels: dict[str, str], *, cpu: int = 2, **worker: Any) -> World:
    """The cluster beside one node, for 10 s."""
    text = yaml.safe_dump_all([node("n", cpu=cpu), cluster(labels, **worker)])
    made = assemble([("ray.yaml", text)]).world
    simulate(made, until_ms=10_000)
    return made


def pods(made: World) -> list[Any]:
    return [made.objects[key] for key in made.keys("Pod") if key.name.startswith("ray")]


def test_files_with_such_a_label_run_under_yunikorn():
    assert world(APPLICATION).policy.spec.stack == "yunikorn"


def test_its_pods_are_of_the_application_and_queue_of_its_labels():
    labels = [
        (pod.labels["applicationId"], pod.labels["queue"]) for pod in pods(world(GANG))
    ]
    assert labels == [("app", "root.a")] * 3


@pytest.mark.parametrize(
    ("labels", "placed"), [(APPLICATION, 2), (GANG, 0)], ids=["alone", "gang"]
)
def test_a_gang_starts_when_all_of_it_fits_and_not_before(labels, placed):
    made = world(labels, cpu=2)
    assert sum(bool(pod.spec.get("nodeName")) for pod in pods(made)) == placed
    assert len(pods(world(GANG, cpu=3))) == 3
    assert all(pod.spec.get("nodeName") for pod in pods(world(GANG, cpu=3)))


def test_task_groups_count_the_least_replicas_times_their_hosts():
    [head, *_] = pods(world(GANG, replicas=4, minReplicas=1, numOfHosts=2))
    groups = json.loads(head.annotations["yunikorn.apache.org/task-groups"])
    assert [(one["name"], one["minMember"]) for one in groups] == [
        ("headgroup", 1),
        ("small", 2),
    ]
    assert groups[1]["minResource"] == {"cpu": "1"}
