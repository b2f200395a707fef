"""Jobs become Workloads: podsets, priority, queue, labels."""

from __future__ import annotations

import pytest

from scheduler.input.manifests.simulation_gaps.unsimulated import unsimulated
from scheduler.model import registry
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import Surroundings

AROUND = Surroundings(
    workload_priorities={"prod": 100},
    priorities={"gold": 7, "usual": 3},
    default_priority="usual",
    labels_to_copy=("team",),
)


def container(cpu: int = 1) -> dict:
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}


def job(*, labels=None, annotations=None, pod=None, **spec) -> dict:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "ns",
            "uid": "u1",
            "labels": {"kueue.x-k8s.io/queue-name": "q", **(labels or {})},
            "annotations": annotations or {},
        },
        "spec": {
            "template": {"spec": {"containers": [container()], **(pod or {})}},
            **spec,
        },
    }


def pod(name: str, *, cpu: int = 1, group: str = "", total: int = 1, **labels) -> dict:
    marks = {"kueue.x-k8s.io/queue-name": "q", **labels}
    if group:
        marks["kueue.x-k8s.io/pod-group-name"] = group
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "uid": name,
            "labels": marks,
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": str(total)},
        },
        "spec": {"containers": [container(cpu)]},
    }


def workload(manifest: dict) -> dict:
    kind = registry.lookup("job-kind", manifest["kind"])
    return kind.workloads(manifest, AROUND)[0]


def test_a_job_becomes_one_podset_of_the_pods_that_run_at_once():
    made = workload(job(parallelism=5, completions=3))
    (part,) = made["spec"]["podSets"]
    assert (part["name"], part["count"]) == ("main", 3)


def test_the_workload_of_a_group_names_the_uid_of_none_of_its_pods():
    pods = [pod(name, group="g", total=2) for name in ("a", "b")]
    made = registry.lookup("job-kind", "Pod").group_workload(pods, AROUND)
    assert "kueue.x-k8s.io/job-uid" not in made["metadata"]["labels"]


def test_a_job_with_more_completions_than_pods_runs_in_waves():
    kind = registry.lookup("job-kind", "Job")
    assert kind.waves(job(parallelism=2, completions=5)) == 3


def test_the_name_is_stable_and_reports_the_owner():
    made = workload(job())["metadata"]
    assert made["name"].startswith("job-train-")
    assert len(made["name"]) == len("job-train-") + 5
    assert made == workload(job())["metadata"]
    assert made["ownerReferences"][0]["uid"] == "u1"
    assert made["labels"]["kueue.x-k8s.io/job-uid"] == "u1"


@pytest.mark.parametrize(
    ("labels", "pod_spec", "priority", "kind"),
    [
        pytest.param(
            {"kueue.x-k8s.io/priority-class": "prod"},
            {"priorityClassName": "gold"},
            100,
            "WorkloadPriorityClass",
            id="the label wins",
        ),
        pytest.param(
            {}, {"priorityClassName": "gold"}, 7, "PriorityClass", id="then the pods"
        ),
        pytest.param({}, {}, 3, "PriorityClass", id="then the default of the cluster"),
    ],
)
def test_priority_comes_from(labels, pod_spec, priority, kind):
    spec = workload(job(labels=labels, pod=pod_spec))["spec"]
    assert spec["priority"] == priority
    assert spec["priorityClassRef"]["kind"] == kind


def test_partial_admission_comes_from_the_annotation():
    made = workload(
        job(parallelism=4, annotations={"kueue.x-k8s.io/job-min-parallelism": "2"})
    )
    assert made["spec"]["podSets"][0]["minCount"] == 2


def test_the_longest_run_comes_from_the_label():
    made = workload(job(labels={"kueue.x-k8s.io/max-exec-time-seconds": "90"}))
    assert made["spec"]["maximumExecutionTimeSeconds"] == 90


def test_only_the_listed_labels_are_copied():
    labels = workload(job(labels={"team": "red", "other": "x"}))["metadata"]["labels"]
    assert labels["team"] == "red"
    assert "other" not in labels


def test_an_annotation_names_no_queue_and_the_importer_reports_it():
    manifest = job(annotations={"kueue.x-k8s.io/queue-name": "old"})
    del manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    assert "queueName" not in workload(manifest)["spec"]
    (finding,) = unsimulated(manifest)
    assert finding[0] == "metadata.annotations.kueue.x-k8s.io/queue-name"
    said = "Kueue reads the label of this name, not the annotation"
    assert finding[1].text == said


def test_a_suspended_job_without_a_queue_stays_suspended():
    kind = registry.lookup("job-kind", "Job")
    manifest = job(suspend=True)
    assert not kind.suspended_by_user(manifest)
    del manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    assert kind.suspended_by_user(manifest)


def test_a_job_set_becomes_a_podset_per_replicated_job():
    template = {"spec": {"parallelism": 2, "template": job()["spec"]["template"]}}
    manifest = {
        **job(),
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {
            "replicatedJobs": [
                {"name": "driver", "template": {"spec": job()["spec"]}},
                {"name": "workers", "replicas": 3, "template": template},
            ]
        },
    }
    parts = workload(manifest)["spec"]["podSets"]
    # Completions default to the parallelism.
    assert [(p["name"], p["count"]) for p in parts] == [("driver", 1), ("workers", 6)]


def test_pods_of_a_group_become_a_podset_per_shape():
    kind = registry.lookup("job-kind", "Pod")
    pods = [
        pod("a", group="g", total=3),
        pod("b", group="g", total=3),
        pod("c", cpu=4, group="g", total=3),
    ]
    assert kind.group(pods[0]) == ("g", 3)
    made = kind.group_workload(pods, AROUND)
    assert made["metadata"]["name"] == "g"
    names = [part["name"] for part in made["spec"]["podSets"]]
    assert names == sorted(names)
    assert sorted(part["count"] for part in made["spec"]["podSets"]) == [1, 2]


def test_pods_of_a_group_must_agree_on_copied_labels():
    kind = registry.lookup("job-kind", "Pod")
    pods = [pod("a", group="g", team="red"), pod("b", group="g", team="blue")]
    with pytest.raises(ManifestError, match="label team: expected 'red'"):
        kind.group_workload(pods, AROUND)
