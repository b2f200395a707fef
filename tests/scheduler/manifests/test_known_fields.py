"""A field that a kind does not have is named with what was meant; one that decides
nothing is counted.
"""

from __future__ import annotations

import pytest
import yaml

from scheduler.input.manifests.known_fields.finding import walk
from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of

POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}


def template(**more):
    return {"spec": POD | more}


def job(**more):
    spec = {"template": template(), **more.pop("spec", {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": spec} | more


def findings(*manifests):
    for number, manifest in enumerate(manifests):
        manifest.setdefault("metadata", {}).setdefault("name", f"x{number}")
    return report_of(load([("w.yaml", yaml.safe_dump_all(manifests))])).findings


def ray(spec):
    head = {"rayStartParams": {}, "template": {"spec": spec}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "spec": {"headGroupSpec": head},
    }


def wrapped(spec):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    parts = [{"template": pod}]
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "spec": {"components": parts},
    }


def master(spec):
    roles = {"Master": {"replicas": 1, "template": {"spec": spec}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "spec": {"pytorchReplicaSpecs": roles},
    }


SLIP = POD | {"nodeSelectr": {"a": "b"}}
HOLDERS = {
    "Pod": {"apiVersion": "v1", "kind": "Pod", "spec": SLIP},
    "Job": job(spec={"template": {"spec": SLIP}}),
    "RayCluster": ray(SLIP),
    "AppWrapper": wrapped(SLIP),
    "PyTorchJob": master(SLIP),
}


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_slip_in_the_pods_of_any_kind_is_a_finding_with_what_was_meant(kind):
    (found,) = findings(HOLDERS[kind])
    assert found.problem == (
        f"{kind}: unknown field nodeSelectr of PodSpec; did you mean nodeSelector?"
    )
    assert "an API server drops it" in found.effect
    (place,) = found.places
    assert place.line > 1
    assert place.field.endswith("spec.nodeSelectr")


SLIPS = {
    "JobSpec; did you mean parallelism?": job(spec={"paralelism": 2}),
    "Job; did you mean spec?": job(specs={}),
    "ObjectMeta; did you mean labels?": job(metadata={"label": {}}),
    "it belongs to JobSpec: indented too far?": job(
        spec={"template": template(completions=2)}
    ),
    "did you mean requests?": job(
        spec={"template": template(containers=[
            {"name": "c", "resources": {"request": {"cpu": 1}}}])}
    ),
    "kueue.x-k8s.io/queue-nam of labels; did you mean kueue.x-k8s.io/queue-name?": job(
        metadata={"labels": {"kueue.x-k8s.io/queue-nam": "q"}}
    ),
    "did you mean kueue.x-k8s.io/podset-required-topology?": job(
        spec={"template": {"metadata": {"annotations": {
            "kueue.x-k8.io/podset-required-topology": "rack"}}, "spec": POD}}
    ),
    "unknown key kueue.x-k8s.io/zzz of annotations": job(
        metadata={"annotations": {"kueue.x-k8s.io/zzz": "1"}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", SLIPS)
def test_a_slip_outside_of_the_pods_is_named_as_well(said):
    (found,) = findings(SLIPS[said])
    assert said in found.problem
    assert found.effect


def test_one_slip_in_many_objects_is_one_sort_of_finding_with_a_count():
    (found,) = findings(
        *(HOLDERS["Pod"] | {"metadata": {"name": f"p{n}"}} for n in range(9))
    )
    assert (found.count, len(found.places)) == (9, 5)


def test_keys_and_fields_that_somebody_obeys_are_no_finding():
    labels = {"kueue.x-k8s.io/queue-name": "q", "example.com/x": "1", "app": "a"}
    given = template(nodeSelector={}, securityContext={"runAsUser": 0}, volumes=[])
    assert findings(job(metadata={"labels": labels}, spec={"template": given})) == []


def test_fields_that_decide_nothing_are_counted_once_per_kind():
    probe = {"name": "c", "readinessProbe": {"tcpSocket": {"port": 1}}}
    spec = template(containers=[probe, {"name": "d", "args": ["x"]}], dnsPolicy="")
    jobs = [job(spec={"template": spec}) | {"metadata": {"name": n}} for n in "ab"]
    (outcome,) = report_of(load([("w.yaml", yaml.safe_dump_all(jobs))])).kinds
    args, probes = outcome.unread
    assert (args.field, args.count, args.effect) == (
        "containers[].args", 2, "no decision depends on it"
    )  # fmt: skip
    assert probes.field == "containers[].readinessProbe"
    assert "quotalab.dev/ready-after" in probes.effect
    assert probes.place.field == "spec.template.spec.containers[0].readinessProbe"


def test_a_slip_beside_devices_and_below_a_status_of_another_version():
    devices = {"requests": [{"name": "gpu", "exactli": {}}]}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "spec": {"devices": devices},
        "status": {"anything": 1},
    }
    (found,) = walk(claim).unknown_fields
    assert found[0] == "spec.devices.requests[0].exactli"
    assert "of DeviceRequest; did you mean exactly?" in found[1].text


def test_a_value_of_another_type_is_walked_without_a_fault():
    odd = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": [1],
        "spec": {"template": {"spec": {"containers": 3}}},
    }
    assert walk(odd).unknown_fields == []
