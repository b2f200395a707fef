"""Pods of a dump without their claims: those that run stay, the others wait aloud."""

from __future__ import annotations

import yaml

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from scheduler.input.manifests.report import groups_of

VOLUME = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
DEVICE = [{"name": "g", "resourceClaimName": "gpu"}]
MADE = [{"name": "g", "resourceClaimTemplateName": "one"}]
DISKS = "kubectl get pvc,pv,sc,csinodes -A -o yaml"
SLICES = "resourceslices -A -o yaml"


def named(kind, name, version="v1", **rest):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}


def pod(name, *, status=None, **spec):
    asked = {"resources": {"requests": {"cpu": "1"}}}
    spec["containers"] = [{"name": "c", "image": "i", **asked}]
    return named("Pod", name, spec=spec, status=status or {"phase": "Pending"})


NODE = named(
    "Node", "n0", status={"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "9"}}
)
RUNNING = {"status": {"phase": "Running"}, "nodeName": "n0"}


def world_of(*objects, stack="kueue"):
    text = yaml.safe_dump_all([NODE, *objects])
    return assemble([("dump.yaml", text)], policy={"stack": stack})


def said(*objects, **more):
    return groups_of(world_of(*objects, **more).loaded.findings)


def test_pods_on_nodes_stay_and_pending_ones_say_which_claim_is_missing():
    world = world_of(
        pod("runs", volumes=VOLUME, **RUNNING),
        pod("computes", resourceClaims=DEVICE, **RUNNING),
        pod("stores", volumes=VOLUME),
        pod("trains", resourceClaims=DEVICE),
    ).world
    run_tick(world)
    world.freshen()
    pods = {k.name: o for k, o in world.objects.items() if k.kind == "Pod"}
    assert [pods[n].spec.get("nodeName") for n in ("runs", "computes")] == ["n0"] * 2
    waits = {
        name: pods[name].status["conditions"][0]["message"]
        for name in ("stores", "trains")
    }
    assert 'persistentvolumeclaim "data" not found' in waits["stores"]
    assert 'could not find ResourceClaim "default/gpu"' in waits["trains"]


def test_an_import_names_the_missing_claims_of_pending_work_once_per_kind():
    job = {"template": {"spec": {"volumes": VOLUME, "containers": [{"name": "c"}]}}}
    found = said(
        pod("a", volumes=VOLUME),
        pod("b", volumes=VOLUME),
        pod("c", resourceClaims=DEVICE),
        named("Job", "j", "batch/v1", spec=job),
    )
    volumes, devices = (one for one in found if "is named" in one.problem)
    assert (volumes.count, devices.count) == (3, 1)
    assert DISKS in volumes.problem
    assert SLICES in devices.problem
    assert "pods that have no node wait" in volumes.effect == devices.effect
    assert str(volumes.places[0]).startswith("dump.yaml")


def test_an_import_says_nothing_of_work_that_needs_no_claim_any_more():
    over = {"conditions": [{"type": "Complete", "status": "True"}]}
    job = {"template": {"spec": {"volumes": VOLUME, "containers": [{"name": "c"}]}}}
    assert not said(
        pod("runs", volumes=VOLUME, **RUNNING),
        pod("ended", volumes=VOLUME, status={"phase": "Failed"}),
        named("Job", "done", "batch/v1", spec=job, status=over),
    )


def test_an_import_names_what_its_claims_lack():
    asked = {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu"}}]}
    statuses = [{"name": "g", "resourceClaimName": "made"}]
    found = said(
        named("PersistentVolumeClaim", "bound", spec={"volumeName": "disk"}),
        named("PersistentVolumeClaim", "open", spec={"storageClassName": "fast"}),
        named("PersistentVolumeClaim", "set", spec={"storageClassName": "local"}),
        named("PersistentVolume", "pv", spec={"storageClassName": "local"}),
        named("ResourceClaim", "made", "resource.k8s.io/v1", spec={"devices": asked}),
        pod("p", resourceClaims=MADE, status={"resourceClaimStatuses": statuses}),
        pod("q", resourceClaims=MADE),
    )
    missing = {one.problem.split(" that")[0]: one.count for one in found}
    assert missing == {
        "a PersistentVolume is named": 1,
        "a StorageClass is named": 1,
        "a DeviceClass is named": 1,
        "a ResourceClaimTemplate is named": 1,
    }


def test_under_yunikorn_no_claim_is_missed():
    assert not said(pod("a", volumes=VOLUME), stack="yunikorn")
