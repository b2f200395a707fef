"""What a world asks for in vain is reported, and nothing that is simulated is."""

from __future__ import annotations

import pytest
import yaml

from scheduler.scenarios import assemble
from scheduler.unsimulated import features_of

BETWEEN = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"a": "b"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}


def lines(stack, *objects, **policy):
    text = yaml.safe_dump_all(objects)
    made = assemble([("w.yaml", text)], policy={"stack": stack, **policy})
    return features_of(made.world)


def pod(**spec):
    container = {"name": "c", "image": "i"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def node(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "pods": "10"}},
    }


WISHES = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {}}
        ]
    }
}


@pytest.mark.parametrize(
    ("stack", "reported"), [("yunikorn", True), ("kube", False), ("kueue", False)]
)
def test_preferred_node_affinity_is_looked_at_but_under_yunikorn(stack, reported):
    found = lines(stack, node(), pod(affinity=WISHES))
    sentence = "preferred node affinity is not looked at under YuniKorn (1)"
    assert (found == [sentence]) == reported


@pytest.mark.parametrize("stack", ["kueue", "yunikorn", "kube"])
def test_affinity_between_pods_is_looked_at_everywhere(stack):
    assert lines(stack, node(), pod(affinity=BETWEEN)) == []


@pytest.mark.parametrize("stack", ["kueue", "yunikorn", "kube"])
def test_claims_of_volumes_and_devices_are_reported_in_every_stack(stack):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    asked = pod(volumes=volumes, resourceClaims=[{"name": "gpu"}])
    found = lines(stack, node(), asked)
    assert [line.partition(" ")[0] for line in found] == ["dynamic", "volumes"]


def test_a_volume_that_needs_no_claim_is_not_reported():
    assert lines("kube", node(), pod(volumes=[{"name": "v", "emptyDir": {}}])) == []


def test_a_world_of_kueue_without_nodes_says_so():
    assert lines("kueue", pod()) == [
        "no Node here: pods are placed nowhere and are ready after podStartMs"
    ]


def test_a_configuration_is_reported_where_it_would_decide():
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "metrics": {"enableClusterQueueResources": True},
        "multiKueue": {"gcInterval": "1m"},
    }
    found = lines("kueue", node(), kueue=configuration)
    assert found == ["Configuration: multiKueue is not simulated"]
