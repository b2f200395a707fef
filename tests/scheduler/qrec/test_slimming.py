"""What is written of an object: no secret, no name that nobody may see."""

from __future__ import annotations

import json
from typing import Any

from sandbox.following.resources import followed
from scheduler.recorded.qrec.anonymising import Anonymiser
from scheduler.recorded.qrec.frames import KEPT, slim

SECRET = "hunter2"


def pod(**spec: Any) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry/train:1",
        "env": [{"name": "TOKEN", "value": SECRET}],
        "args": [SECRET],
        "command": [SECRET],
        "livenessProbe": {"exec": {"command": [SECRET]}},
        "resources": {"requests": {"cpu": "1"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "vision-train-3",
            "namespace": "vision",
            "managedFields": [{"manager": SECRET}],
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": SECRET,
                "company.example/note": SECRET,
                "kueue.x-k8s.io/workload": "vision-train",
            },
            "labels": {"team": "vision", "kueue.x-k8s.io/queue-name": "main"},
            "ownerReferences": [
                {"kind": "Job", "name": "vision-train", "apiVersion": "batch/v1"}
            ],
        },
        "spec": {
            "containers": [container],
            "initContainers": [{**container, "name": "init"}],
            "volumes": [{"name": "v", "secret": {"secretName": SECRET}}],
            **spec,
        },
    }


def test_no_secret_of_a_pod_is_written() -> None:
    assert SECRET not in json.dumps(slim(pod()))


def test_pods_within_jobs_and_workloads_are_slim_too() -> None:
    template = {"template": pod()}
    job = {"kind": "Job", "metadata": {"name": "j"}, "spec": template}
    workload = {
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podSets": [{"name": "main", **template}]},
    }
    assert SECRET not in json.dumps([slim(job), slim(workload)])


def test_every_kind_that_is_followed_says_what_is_kept_of_it() -> None:
    assert {kind.kind for kind in followed()} <= set(KEPT)


def test_where_a_worker_clusters_kubeconfig_lies_is_not_written() -> None:
    source = {"clusterSource": {"kubeConfig": {"location": SECRET}}}
    given = {"kind": "MultiKueueCluster", "metadata": {"name": "a"}, "spec": source}
    assert SECRET not in json.dumps(slim(given))


def test_a_providers_own_parameters_are_not_written() -> None:
    parameters = {"ValidUntilSeconds": "60", "reservation": SECRET}
    for kind in ("ProvisioningRequest", "ProvisioningRequestConfig"):
        given = {"kind": kind, "spec": {"parameters": parameters}}
        assert slim(given)["spec"]["parameters"] == {"ValidUntilSeconds": "60"}


def test_the_names_of_worker_clusters_are_mapped() -> None:
    given = {"kind": "MultiKueueConfig", "spec": {"clusters": ["vision-east"]}}
    assert "vision" not in json.dumps(Anonymiser(b"k" * 32).manifest(slim(given)))


def test_a_configmap_is_its_yaml_texts() -> None:
    data = {"queues.yaml": "partitions: []", "token": SECRET}
    given = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}
    assert slim({**given, "binaryData": {"b": SECRET}})["data"] == {
        "queues.yaml": "partitions: []"
    }


def test_what_decisions_read_is_written() -> None:
    found = slim(pod(nodeSelector={"pool": "a"}, tolerations=[{"key": "x"}]))
    container = found["spec"]["containers"][0]
    assert container["resources"] == {"requests": {"cpu": "1"}}
    assert found["spec"]["nodeSelector"] == {"pool": "a"}
    assert found["metadata"]["annotations"] == {
        "kueue.x-k8s.io/workload": "vision-train"
    }


def test_the_same_name_has_the_same_hash_in_every_place() -> None:
    found = Anonymiser(b"k" * 32).manifest(slim(pod(nodeSelector={"team": "vision"})))
    metadata = found["metadata"]
    assert "vision" not in json.dumps(found)
    assert metadata["labels"]["team"] == found["spec"]["nodeSelector"]["team"]
    owner = metadata["ownerReferences"][0]["name"]
    assert metadata["annotations"]["kueue.x-k8s.io/workload"] == owner
    assert metadata["name"] == f"{owner}-3"
    assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "main"


def test_what_a_flavor_is_called_and_tainted_with_is_mapped_wherever_it_stands() -> (
    None
):
    flavor = {"nodeTaints": [{"key": "team", "value": "vision"}]}
    migration = {"constraints": {"lastAcceptableFlavorName": "vision"}}
    queue = {"concurrentAdmissionPolicy": {"migration": migration}}
    work = {"reclaimablePods": [{"name": "worker", "count": 1}]}
    told = Anonymiser(b"key")
    given = {"spec": {**flavor, **queue}, "status": work}
    written = told.manifest(given)
    assert "vision" not in json.dumps(written)
    assert told.name("vision") in json.dumps(written["spec"]["nodeTaints"])
    assert written["status"] == work


def test_checks_are_mapped_as_either_version_lists_them() -> None:
    told = Anonymiser(b"key")
    name = told.name("budget")
    older = told.manifest({"admissionChecks": ["budget"]})
    newest = told.manifest({"admissionChecks": [{"name": "budget"}]})
    assert (older, newest) == (
        {"admissionChecks": [name]},
        {"admissionChecks": [{"name": name}]},
    )


def test_another_key_gives_other_names() -> None:
    first, second = Anonymiser(b"a" * 32), Anonymiser(b"b" * 32)
    assert first.name("vision") != second.name("vision")


def test_resources_and_uids_stay_and_sentences_go() -> None:
    condition = {
        "type": "Preempted",
        "message": "Preempted to accommodate a workload (UID: 0ae7ad10, JobUID: 8fc9) "
        "in team vision",
    }
    given = {
        "kind": "Workload",
        "metadata": {"name": "a", "uid": "0ae7ad10-95a5-4c71-b970-61d899ec64f9"},
        "status": {"conditions": [condition], "resources": [{"name": "cpu"}]},
    }
    found = Anonymiser(b"k" * 32).manifest(given)
    assert found["metadata"]["uid"] == given["metadata"]["uid"]  # type: ignore[index]
    assert found["status"]["resources"] == [{"name": "cpu"}]
    kept = found["status"]["conditions"][0]["message"]
    assert kept == "(UID: 0ae7ad10, JobUID: 8fc9)"


def test_values_of_an_assignment_are_those_of_the_nodes_labels() -> None:
    an = Anonymiser(b"k" * 32)
    individual = {"prefix": "rack-", "roots": ["a", "b"]}
    level = {"individual": individual}
    found = an.manifest({"metadata": {"name": "w"}, "valuesPerLevel": [level]})
    roots = found["valuesPerLevel"][0]["individual"]["roots"]
    assert roots == [an.name("rack-a"), an.name("rack-b")]
