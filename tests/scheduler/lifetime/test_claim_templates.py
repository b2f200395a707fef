"""A StatefulSet makes a claim per template and pod, and its pods wait for volumes."""

from __future__ import annotations

import pytest
import yaml

from scheduler.input.manifests.load import load
from scheduler.model.objects import Key
from tests.builders import node, small_cluster
from tests.scheduler.lifetime.test_pod_controllers import controller, edit, settled

CLAIM = "PersistentVolumeClaim"


def template(name: str = "data", **spec: object) -> dict:
    asked = {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    return {
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], **asked, **spec},
    }


def stateful_set(*templates: dict, queue: str = "", **spec: object) -> dict:
    given = templates or (template(),)
    more = {"volumeClaimTemplates": list(given), "replicas": 2, **spec}
    return controller("StatefulSet", queue=queue, **more)


def storage_class(provisioner: str = "csi.example.com") -> dict:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": provisioner,
    }


def claims(world) -> list[str]:
    return sorted(key.name for key in world.keys(CLAIM))


def used(world) -> list[str]:
    pods = [world.get(key) for key in world.keys("Pod")]
    volumes = [
        one for pod in pods if pod.spec.get("nodeName") for one in pod.spec["volumes"]
    ]
    return sorted(one["persistentVolumeClaim"]["claimName"] for one in volumes)


@pytest.mark.parametrize("stack", ["kube", "kueue"])
def test_each_pod_gets_a_claim_of_its_own_per_template(stack):
    queue = "main" if stack == "kueue" else ""
    given = stateful_set(template(), template("logs"), queue=queue)
    around = small_cluster() if queue else ()
    world = settled(*around, node("n1"), storage_class(), given, stack=stack)
    expected = ["data-web-0", "data-web-1", "logs-web-0", "logs-web-1"]
    assert claims(world) == expected
    assert used(world) == expected


def test_pods_whose_claims_get_no_volume_wait():
    nobody = storage_class("kubernetes.io/no-provisioner")
    world = settled(node("n1"), nobody, stateful_set())
    assert claims(world) == ["data-web-0"]
    assert used(world) == []


def test_a_claim_stays_when_its_pod_goes_and_is_used_again():
    world = settled(node("n1"), storage_class(), stateful_set(ordinals={"start": 3}))
    key = Key("StatefulSet", "default", "web")
    before = world.get(Key(CLAIM, "default", "data-web-3")).uid
    edit(world, key, replicas=0)
    assert (claims(world), used(world)) == (["data-web-3", "data-web-4"], [])
    edit(world, key, replicas=1)
    assert used(world) == ["data-web-3"]
    assert world.get(Key(CLAIM, "default", "data-web-3")).uid == before


def test_a_claim_template_that_is_none_is_refused_with_its_place():
    given = stateful_set(template(accessModes="ReadWriteOnce"))
    (found,) = load([("s.yaml", yaml.safe_dump(given))]).errors
    assert found.place.field == "spec.volumeClaimTemplates[0].spec.accessModes"
