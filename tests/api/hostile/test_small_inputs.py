"""A small input makes little work: what it multiplies is counted before it is made."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from django.test import override_settings

from sandbox import actions
from sandbox.answers.work import WORK
from sandbox.models import Sandbox
from scheduler.engine.worlds.objects import Room
from scheduler.model import registry
from scheduler.model.errors import SchedulerError
from tests.builders import cluster_queue, flavor, node
from tests.sandbox.conftest import check_rows, row, text_of, tick

pytestmark = pytest.mark.django_db

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
MAPS = "/api/v1/namespaces/default/configmaps"


def patch(client, sandbox, path: str, media: str, body: Any) -> Any:
    url = f"/api/v1/sandboxes/{sandbox.pk}{path}"
    kind = f"application/{media}+json"
    return client.patch(url, json.dumps(body), content_type=kind)


@pytest.fixture
def configured(call, make):
    """A sandbox with a ConfigMap `m`."""
    sandbox = make(flavor(), cluster_queue("q"))
    made = call("post", sandbox, MAPS, {**CONFIG_MAP, "data": {"a": "b" * 100}})
    assert made.status_code == 201
    return sandbox


def test_a_json_patch_that_copies_the_whole_document_often_is_refused(
    client, configured
):
    whole = [{"op": "copy", "from": "", "path": f"/data/c{n}"} for n in range(30)]
    begun = time.process_time()
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", whole)
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert time.process_time() - begun < 1, "seconds of work for a patch of 1,200 bytes"


def test_a_json_patch_that_nests_a_document_in_itself_is_refused(client, configured):
    deep = [
        {"op": "add", "path": "/data", "value": {"a": {}}},
        *(
            {"op": "copy", "from": "/data", "path": "/data" + "/a" * 2**n}
            for n in range(11)
        ),
    ]
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", deep)
    assert 400 <= answer.status_code < 500


def test_a_json_patch_may_copy_what_is_small(client, configured):
    one = [{"op": "copy", "from": "/data/a", "path": "/data/b"}]
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", one)
    assert answer.json()["data"] == {"a": "b" * 100, "b": "b" * 100}


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ({"op": "remove"}, 422),
        ({"op": "move", "from": "", "path": "/data"}, 422),
        *(({"op": "replace", "value": one}, 400) for one in (None, 5, "x", [])),
    ],
)
def test_a_json_patch_that_leaves_no_object_is_refused(
    client, configured, operation, code
):
    one = [{"path": "", **operation}]
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", one)
    assert answer.status_code == code, answer.content


def test_no_patch_makes_an_object_larger_than_a_body_may_be(
    client, configured, settings
):
    settings.LIMITS = {**settings.LIMITS, "bytes_per_body": 1000}
    for media in ("merge-patch", "strategic-merge-patch"):
        half = {"data": {media: "x" * 400}}
        patch(client, configured, f"{MAPS}/m", media, half)
    answer = patch(client, configured, f"{MAPS}/m", "merge-patch", half | {"x": 1})
    assert answer.status_code == 413
    assert answer.json()["message"] == "Request entity too large: limit is 1000"


def test_a_strategic_patch_of_a_long_list_looks_at_each_item_once():
    from api.cluster.patches import strategic

    known = [{"name": f"n{n}", "value": str(n)} for n in range(20_000)]
    changed = [{"name": f"n{n}", "value": "x"} for n in range(20_000)]
    gone = [{"name": f"n{n}", "$patch": "delete"} for n in range(19_999)]
    begun = time.process_time()
    found = strategic({"env": known}, {"env": changed})
    assert strategic(found, {"env": gone}) == {"env": changed[-1:]}
    keys = [f"f{n}" for n in range(20_000)]
    assert strategic({"finalizers": keys}, {"finalizers": keys}) == {"finalizers": keys}
    assert time.process_time() - begun < 2, "each item was compared with each other"


POD = {
    "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    ],
    "restartPolicy": "Never",
}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SELECTOR = {"matchLabels": {"a": "b"}}
SERVED = {"selector": SELECTOR, "template": TEMPLATE}
ALWAYS = {
    "selector": SELECTOR,
    "template": {**TEMPLATE, "spec": {**POD, "restartPolicy": "Always"}},
}
MANY = 10_001


def of(api: str, kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    named = {"name": "many", "namespace": "default", **metadata}
    return {"apiVersion": api, "kind": kind, "metadata": named, "spec": spec}


def replicated(api: str, kind: str, specs: str, role: str) -> dict[str, Any]:
    return of(api, kind, {specs: {role: {"replicas": MANY, "template": TEMPLATE}}})


JOBS = {"parallelism": MANY, "template": TEMPLATE}
JOB_SETS = [
    {"name": "r", "replicas": 101, "template": {"spec": {**JOBS, "parallelism": 100}}}
]
RAY = {
    "headGroupSpec": {"template": TEMPLATE},
    "workerGroupSpecs": [
        {"groupName": "g", "replicas": 101, "numOfHosts": 100, "template": TEMPLATE}
    ],
}
GROUP = [{"name": "g", "minMember": MANY, "minResource": {"cpu": "1"}}]
#: Field that is named -> an object that makes one pod, or node, too many.
MULTIPLIED = {
    "Deployment": (
        "spec.replicas",
        of("apps/v1", "Deployment", {"replicas": MANY, **ALWAYS}),
    ),
    "ReplicaSet": (
        "spec.replicas",
        of("apps/v1", "ReplicaSet", {"replicas": MANY, **ALWAYS}),
    ),
    "StatefulSet": (
        "spec.replicas",
        of("apps/v1", "StatefulSet", {"replicas": MANY, **ALWAYS}),
    ),
    "LeaderWorkerSet": (
        "spec.replicas",
        of(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {
                "replicas": 101,
                "leaderWorkerTemplate": {"size": 100, "workerTemplate": TEMPLATE},
            },
        ),
    ),
    "Job": ("spec.parallelism", of("batch/v1", "Job", {**JOBS, "completions": MANY})),
    "CronJob": (
        "spec.jobTemplate.spec.parallelism",
        of(
            "batch/v1",
            "CronJob",
            {"schedule": "* * * * *", "jobTemplate": {"spec": JOBS}},
        ),
    ),
    "JobSet": (
        "spec.replicatedJobs",
        of("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": JOB_SETS}),
    ),
    "PyTorchJob": (
        "spec",
        replicated("kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs", "Worker"),
    ),
    "TFJob": (
        "spec",
        replicated("kubeflow.org/v1", "TFJob", "tfReplicaSpecs", "Worker"),
    ),
    "JAXJob": (
        "spec",
        replicated("kubeflow.org/v1", "JAXJob", "jaxReplicaSpecs", "Worker"),
    ),
    "PaddleJob": (
        "spec",
        replicated("kubeflow.org/v1", "PaddleJob", "paddleReplicaSpecs", "Worker"),
    ),
    "XGBoostJob": (
        "spec",
        replicated("kubeflow.org/v1", "XGBoostJob", "xgbReplicaSpecs", "Worker"),
    ),
    "MPIJob": (
        "spec",
        replicated("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "Worker"),
    ),
    "TrainJob": (
        "spec.trainer.numNodes",
        of(
            "trainer.kubeflow.org/v1alpha1",
            "TrainJob",
            {"runtimeRef": {"name": "r"}, "trainer": {"numNodes": MANY}},
        ),
    ),
    "SparkApplication": (
        "spec",
        of(
            "sparkoperator.k8s.io/v1beta2",
            "SparkApplication",
            {"driver": {"cores": 1}, "executor": {"instances": MANY, "cores": 1}},
        ),
    ),
    "RayCluster": ("spec", of("ray.io/v1", "RayCluster", RAY)),
    "RayJob": ("spec", of("ray.io/v1", "RayJob", {"rayClusterSpec": RAY})),
    "RayService": ("spec", of("ray.io/v1", "RayService", {"rayClusterConfig": RAY})),
    "AppWrapper": (
        "spec.components",
        of(
            "workload.codeflare.dev/v1beta2",
            "AppWrapper",
            {
                "components": [
                    {
                        "podSets": [{"path": "template", "replicas": MANY}],
                        "template": TEMPLATE,
                    }
                ]
            },
        ),
    ),
    "Workload": (
        "spec.podSets",
        of(
            "kueue.x-k8s.io/v1beta2",
            "Workload",
            {
                "queueName": "q",
                "podSets": [{"name": "main", "count": MANY, "template": TEMPLATE}],
            },
        ),
    ),
    "ProvisioningRequest": (
        "spec.podSets",
        of(
            "autoscaling.x-k8s.io/v1",
            "ProvisioningRequest",
            {
                "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
                "podSets": [{"podTemplateRef": {"name": "t"}, "count": MANY}],
            },
        ),
    ),
    "NodeGroup": (
        "spec.minNodes",
        {
            "apiVersion": "quotalab.dev/v1",
            "kind": "NodeGroup",
            "metadata": {"name": "many"},
            "spec": {
                "minNodes": MANY,
                "maxNodes": MANY,
                "template": {"status": {"allocatable": {"cpu": "4", "pods": "10"}}},
            },
        },
    ),
    "Pod": (
        "metadata.annotations",
        of(
            "v1",
            "Pod",
            POD,
            annotations={"yunikorn.apache.org/task-groups": json.dumps(GROUP)},
        ),
    ),
}


def test_every_job_kind_is_tried_with_too_many_pods():
    kinds = {entry.name for entry in registry.built_in("job-kind")}
    assert kinds - set(MULTIPLIED) == set()


@pytest.mark.parametrize("kind", MULTIPLIED)
def test_no_object_makes_more_pods_than_the_operator_allows(call, make, kind):
    sandbox = make(flavor(), cluster_queue("q"))
    before = row(sandbox)
    field, manifest = MULTIPLIED[kind]
    body = {"files": [{"name": "a.yaml", "text": text_of(manifest)}]}
    answer = call("post", sandbox, "/actions/import", body)
    causes = answer.json()["details"]["causes"]
    said = [
        one for one in causes if "at most 10000 pods of one object" in one["message"]
    ]
    assert (answer.status_code, [one["field"] for one in said]) == (422, [field])
    assert "PODS_PER_OBJECT" in said[0]["message"]
    assert row(sandbox).revision == before.revision


GANG = {"ray.io/gang-scheduling-enabled": "true", "yunikorn.apache.org/app-id": "a"}
LARGE = {
    "a long annotation in each pod": (
        "spec.parallelism",
        of(
            "batch/v1",
            "Job",
            {
                "parallelism": 10_000,
                "template": {
                    **TEMPLATE,
                    "metadata": {"annotations": {"a": "x" * 40_000}},
                },
            },
        ),
    ),
    "task groups of all groups in each pod": (
        "spec",
        of(
            "ray.io/v1",
            "RayCluster",
            {
                "headGroupSpec": {"template": TEMPLATE},
                "workerGroupSpecs": [
                    {
                        "groupName": f"g{n}",
                        "replicas": 1,
                        "template": copy.deepcopy(TEMPLATE),  # YAML would repeat it
                    }
                    for n in range(1500)
                ],
            },
            labels=GANG,
        ),
    ),
}


@pytest.mark.parametrize("what", LARGE)
def test_pods_that_repeat_much_are_fewer(call, make, what):
    sandbox = make(flavor(), cluster_queue("q"))
    before = row(sandbox)
    field, manifest = LARGE[what]
    body = {"files": [{"name": "a.yaml", "text": text_of(manifest)}]}
    answer = call("post", sandbox, "/actions/import", body)
    causes = answer.json()["details"]["causes"]
    said = [one for one in causes if "which each of them repeats" in one["message"]]
    assert (answer.status_code, [one["field"] for one in said]) == (422, [field])
    assert row(sandbox).revision == before.revision


WAYS = {
    "import": lambda call, made, m: call(
        "post",
        made,
        "/actions/import",
        {"files": [{"name": "a.yaml", "text": text_of(m)}]},
    ),
    "REST": lambda call, made, m: call(
        "put", made, "/objects/Deployment/default/many", m
    ),
    "kubectl": lambda call, made, m: call(
        "post", made, "/apis/apps/v1/namespaces/default/deployments", m
    ),
    "scale": lambda call, made, m: call(
        "patch",
        made,
        "/apis/apps/v1/namespaces/default/deployments/few/scale",
        {"spec": {"replicas": MANY}},
    ),
    "what-if": lambda call, made, m: call(
        "post", made, "/what-ifs", {"changes": [{"apply": m}], "horizonMs": 60_000}
    ),
    "arrivals": lambda call, made, m: call(
        "post",
        made,
        "/actions/import",
        {"files": [{"name": "a.yaml", "text": text_of(load_of(m, count=1))}]},
    ),
}


def load_of(manifest: dict[str, Any], count: int) -> dict[str, Any]:
    arrival = {
        "process": "interval",
        "parameters": {"every": "1s", "count": count},
        "object": manifest,
    }
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Load",
        "metadata": {"name": "l"},
        "spec": {"arrivals": [arrival]},
    }


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_has_the_bound(call, make, way):
    kind = "Deployment"
    few = of("apps/v1", kind, {"replicas": 1, **ALWAYS}, name="few")
    sandbox = make(flavor(), cluster_queue("q"), few)
    answer = WAYS[way](call, sandbox, MULTIPLIED[kind][1])
    assert 400 <= answer.status_code < 500, answer.content
    assert "at most 10000 pods of one object" in answer.content.decode()


def test_a_new_sandbox_has_the_bound(client):
    text = text_of(MULTIPLIED["Deployment"][1])
    body = {"files": [{"name": "a.yaml", "text": text}]}
    answer = client.post("/api/v1/sandboxes", body, format="json")
    assert answer.status_code == 422
    assert "at most 10000 pods of one object" in answer.content.decode()


def test_arrivals_are_counted_before_they_are_made(call, make):
    sandbox = make(flavor(), cluster_queue("q"))
    million = load_of(of("batch/v1", "Job", {"template": TEMPLATE}), count=10**9)
    body = {"files": [{"name": "a.yaml", "text": text_of(million)}]}
    answer = call("post", sandbox, "/actions/import", body)
    assert (
        answer.status_code,
        "at most 100000 objects" in answer.content.decode(),
    ) == (422, True)


def test_a_sandbox_holds_no_more_objects_than_allowed_whoever_makes_them(
    make, person, monkeypatch
):
    monkeypatch.setattr(Room, "most", 50)
    sandbox = make(
        node("n", cpu=100),
        of("apps/v1", "Deployment", {"replicas": 60, **ALWAYS}),
        policy={"stack": "kube"},
    )
    actions.do_play(person, sandbox.pk)
    with pytest.raises(SchedulerError, match="as many as a world may hold"):
        tick(sandbox)


def test_ranges_of_indexes_are_counted_and_not_listed():
    from scheduler.input.manifests.jobs.batch_job import _done

    spec = {"completionMode": "Indexed", "completions": 10, "parallelism": 10}
    status = {"completedIndexes": "0-1,3-2000000000", "failedIndexes": "1-4"}
    assert _done({"spec": spec, "status": status}) == 10


@pytest.mark.parametrize("kind", ["TrainingRuntime", "ClusterTrainingRuntime"])
def test_an_object_without_what_has_pods_is_no_fault_of_the_program(call, make, kind):
    manifest = of("trainer.kubeflow.org/v1alpha1", kind, {})
    body = {"files": [{"name": "a.yaml", "text": text_of(manifest)}]}
    answer = call("post", make(), "/actions/import?dryRun=All", body)
    assert answer.status_code in (200, 422)


def test_what_lets_many_objects_arrive_is_taken_by_a_worker(call, client, make):
    sandbox = make(flavor(), cluster_queue("q"))
    few = load_of(of("batch/v1", "Job", {"template": TEMPLATE}), count=3)
    body = {"files": [{"name": "a.yaml", "text": text_of(few)}]}
    with override_settings(ANSWER_INLINE=False, ANSWER_WAIT_S=0):
        told = call("post", sandbox, "/actions/import", body)
        assert (told.status_code, row(sandbox).revision) == (202, sandbox.revision)
        assert WORK.work(1.0) == 1
        done = client.get(told.json()["place"])
    assert len(done.json()["created"]) == 3
    assert row(sandbox).revision == sandbox.revision + 1


def test_a_new_sandbox_in_which_many_objects_arrive_is_made_by_a_worker(client, make):
    few = load_of(of("batch/v1", "Job", {"template": TEMPLATE}), count=3)
    text = text_of(flavor(), cluster_queue("q"), few)
    body = {"files": [{"name": "a.yaml", "text": text}], "title": "mine"}
    with override_settings(ANSWER_INLINE=False, ANSWER_WAIT_S=0):
        told = client.post("/api/v1/sandboxes", body, format="json")
        assert (told.status_code, Sandbox.objects.count()) == (202, 0)
        assert WORK.work(1.0) == 1
        done = client.get(told.json()["place"])
    made = Sandbox.objects.get()
    assert (done.status_code, done.json()["id"]) == (201, made.pk)
    assert (made.title, done.json()["report"]["files"] != []) == ("mine", True)
    check_rows(made)
