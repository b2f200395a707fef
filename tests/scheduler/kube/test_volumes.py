"""A pod goes where its volumes are; one whose claim has none waits and is woken."""

from __future__ import annotations

import pytest

from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod

ZONE = "topology.kubernetes.io/zone"
WAIT = "WaitForFirstConsumer"
NO_NODE = "0/2 nodes are available:"


def claim(name="data", *, size="1Gi", mode="ReadWriteOnce", **spec):
    asked = {"resources": {"requests": {"storage": size}}, "accessModes": [mode]}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {"storageClassName": "fast", **asked, **spec},
    }


def volume(name, *, size="1Gi", zone="", labels=None, **spec):
    if zone:
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": name, "namespace": "", "labels": labels or {}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            **spec,
        },
    }


def storage_class(mode="Immediate", *, zones=(), provisioner="csi.example.com"):
    found = {
        "kind": "StorageClass",
        "metadata": {"name": "fast", "namespace": ""},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }
    if zones:
        expression = {"key": ZONE, "values": list(zones)}
        found["allowedTopologies"] = [{"matchLabelExpressions": [expression]}]
    return found


def csi_node(name, count=None, keys=()):
    driver = {"name": "csi.example.com", "topologyKeys": list(keys)}
    if count is not None:
        driver["allocatable"] = {"count": count}
    metadata = {"name": name, "namespace": ""}
    return {"kind": "CSINode", "metadata": metadata, "spec": {"drivers": [driver]}}


def using(name, *claims, **more):
    sources = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": one}}
        for i, one in enumerate(claims)
    ]
    return pod(name, volumes=sources, **more)


def cluster(*manifests):
    nodes = [node("n0", labels={ZONE: "a"}), node("n1", labels={ZONE: "b"})]
    return Rig(*nodes, *manifests)


def test_a_pod_whose_claim_is_missing_waits_until_it_is_there():
    rig = cluster(using("p", "data"))
    rig.settle()
    said = f'{NO_NODE} persistentvolumeclaim "data" not found.'
    assert rig.pending()["p"].startswith(said)
    rig.put(volume("disk"))
    rig.put(claim())
    rig.run(20_000)
    assert rig.places()["p"] in ("n0", "n1")


def test_a_claim_that_nothing_binds_holds_its_pod_back():
    rig = cluster(claim(), using("p", "data"))
    rig.settle()
    said = f"{NO_NODE} pod has unbound immediate PersistentVolumeClaims."
    assert rig.pending()["p"].startswith(said)


def test_a_bound_volume_draws_its_pod_into_its_zone():
    rig = cluster(volume("disk", zone="b"), claim(), using("p", "data"))
    rig.settle()
    assert rig.places() == {"p": "n1"}


def test_a_node_away_from_the_volume_is_out_for_its_affinity():
    rig = cluster(volume("disk", zone="c"), claim(), using("p", "data"))
    rig.settle()
    said = f"{NO_NODE} 2 node(s) didn't match PersistentVolume's node affinity."
    assert rig.pending()["p"].startswith(said)


def test_a_claim_bound_to_a_volume_that_is_gone_says_so():
    done = claim(volumeName="old")
    done["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    rig = cluster(volume("old"), done)
    rig.remove(Key("PersistentVolume", "", "old"))
    rig.put(using("p", "data"))
    rig.settle()
    assert 'persistentvolume "old" not found' in rig.pending()["p"]


def test_a_claim_that_waits_gets_a_volume_where_its_class_allows():
    rig = cluster(storage_class(WAIT, zones=["b"]), claim(), using("p", "data"))
    rig.settle()
    assert rig.places() == {"p": "n1"}
    rig.write()
    made = rig.objects[Key("PersistentVolumeClaim", "default", "data")]
    assert (made.status["phase"], made.spec["volumeName"]) == ("Bound", "pvc-uid-data")


def test_a_volume_made_for_one_pod_draws_the_next_one_to_its_topology():
    rig = cluster(csi_node("n0", keys=[ZONE]), csi_node("n1", keys=[ZONE]))
    rig.put(storage_class(WAIT))
    rig.put(claim())
    rig.put(using("first", "data", nodeSelector={ZONE: "b"}))
    rig.settle()
    rig.put(using("second", "data"))
    rig.settle()
    assert rig.places() == {"first": "n1", "second": "n1"}


def test_a_class_without_a_provisioner_takes_the_smallest_volume_that_is_there():
    rig = cluster(
        storage_class(WAIT, provisioner="kubernetes.io/no-provisioner"),
        volume("large", size="8Gi", zone="a"),
        volume("small", size="2Gi", zone="b"),
        claim(),
        claim("other"),
    )
    rig.put(using("p", "data", nodeSelector={ZONE: "b"}))
    rig.settle()
    rig.put(using("q", "other"))
    rig.put(using("r", "more"))
    rig.put(claim("more"))
    rig.settle()
    assert rig.places() == {"p": "n1", "q": "n0"}
    found = "2 node(s) didn't find available persistent volumes to bind"
    assert found in rig.pending()["r"]


def test_a_zone_label_of_a_volume_keeps_other_zones_out():
    rig = cluster(volume("disk", labels={ZONE: "a"}), claim(), using("p", "data"))
    rig.put(node("n0", labels={ZONE: "c"}))
    rig.settle()
    assert f"{NO_NODE} 2 node(s) had no available volume zone." in rig.pending()["p"]


def test_a_claim_for_one_pod_serves_the_second_when_the_first_is_gone():
    rig = cluster(
        storage_class(), claim(mode="ReadWriteOncePod"), using("first", "data")
    )
    rig.settle()
    rig.put(using("second", "data"))
    rig.settle()
    said = (
        "2 node has pod using PersistentVolumeClaim with the same name and "
        "ReadWriteOncePod access mode"
    )
    assert said in rig.pending()["second"]
    rig.remove(Key("Pod", "default", "first"))
    rig.run(20_000)
    assert "second" in rig.places()


def test_the_holder_of_a_claim_for_one_pod_is_preempted_for_a_higher_priority():
    rig = cluster(storage_class(), claim(mode="ReadWriteOncePod"), using("low", "data"))
    rig.settle()
    rig.put(using("high", "data", priority=10))
    rig.run(20_000)
    assert list(rig.places()) == ["high"]


def test_a_node_takes_only_so_many_volumes_of_a_driver():
    rig = cluster(csi_node("n0", 1), csi_node("n1", 1), storage_class())
    for name in ("a", "b", "c"):
        rig.put(claim(name))
        rig.put(using(f"p-{name}", name))
    rig.settle()
    assert sorted(rig.places().values()) == ["n0", "n1"]
    assert "2 node(s) exceed max volume count" in rig.pending()["p-c"]


def test_an_ephemeral_volume_makes_its_own_claim():
    made = {"spec": claim()["spec"]}
    source = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": made}}
    rig = cluster(storage_class(WAIT, zones=["b"]), pod("p", volumes=[source]))
    rig.settle()
    assert rig.places() == {"p": "n1"}


@pytest.mark.parametrize("latency", [0, 1000])
def test_what_was_bound_or_assumed_outlives_a_restart(latency):
    nodes = [node("n0", labels={ZONE: "a"}), node("n1", labels={ZONE: "b"})]
    free = storage_class(WAIT, provisioner="kubernetes.io/no-provisioner")
    rig = Rig(*nodes, free, volume("disk"), claim(), bind_latency_ms=latency)
    rig.put(using("p", "data"))
    rig.settle()
    again = rig.restarted()
    again.put(claim("other"))
    again.put(using("q", "other"))
    again.run(5_000)
    assert list(again.places()) == ["p"]
    assert "persistent volumes to bind" in again.pending()["q"]
    again.write()
    bound = again.objects[Key("PersistentVolume", "", "disk")]
    assert bound.spec["claimRef"]["name"] == "data"


def racing():
    """Return a rig whose pod p is on its way to a node with the only volume."""
    made = storage_class(WAIT, provisioner="kubernetes.io/no-provisioner")
    rig = Rig(node("n0"), made, volume("disk"), claim(), bind_latency_ms=1000)
    rig.put(using("p", "data"))
    rig.settle()
    return rig


def test_a_volume_on_its_way_to_one_claim_goes_to_no_other_that_names_it():
    rig = racing()
    rig.put(claim("other", volumeName="disk"))
    rig.run(5_000)
    volumes = rig.stage.shared.volumes
    assert [key.name for key in volumes.bound] == ["data"]
    assert list(rig.places()) == ["p"]


def test_a_volume_whose_pod_lost_its_claim_goes_to_the_next_one_that_names_it():
    rig = racing()
    rig.put(claim("other", volumeName="disk"))
    rig.remove(Key("PersistentVolumeClaim", "default", "data"))
    rig.run(5_000)
    assert [key.name for key in rig.stage.shared.volumes.bound] == ["other"]
    assert 'persistentvolumeclaim "data" not found' in rig.pending()["p"]


def test_a_claim_that_two_pods_bind_at_once_keeps_its_volume():
    rig = racing()
    rig.put(using("q", "data"))
    rig.run(5_000)
    rig.write()
    assert list(rig.places()) == ["p", "q"]
    assert rig.objects[Key("PersistentVolume", "", "disk")].status == {"phase": "Bound"}


def test_pods_without_claims_are_asked_nothing():
    rig = cluster(storage_class(), claim(), pod("p"))
    found = rig.stage.table(Key("Pod", "default", "p"))
    names = {"VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"}
    assert names <= set(found.skipped)
