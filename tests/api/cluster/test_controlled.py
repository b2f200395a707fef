"""What controllers make, as clients of Kubernetes know it by name, owner and labels."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cluster import controlled, presenting
from api.cluster.controlled import Known, Owners
from sandbox import actions
from sandbox.access.people import local_user
from scheduler.model.amounts import parse
from tests.builders import cluster_queue, flavor, local_queue, node, pod
from tests.sandbox.conftest import tick

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
APPS = "/apis/apps/v1/namespaces/default"
READY = "PodsReady"
SELECTOR = {"matchLabels": {"app": "web"}}
ENDING = "[bcdfghjklmnpqrstvwxz2456789]{5}"


def template(**labels: str) -> dict[str, Any]:
    asked = {"requests": {"cpu": "100m"}}
    one = {"name": "main", "image": "busybox", "resources": asked}
    return {"metadata": {"labels": labels}, "spec": {"containers": [one]}}


def job(name: str, **spec: Any) -> dict[str, Any]:
    pods = template()
    pods["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": pods, **spec},
    }


def replicated(kind: str, name: str) -> dict[str, Any]:
    chosen = {"matchLabels": {"app": name}}
    spec = {"replicas": 2, "selector": chosen, "template": template(app=name)}
    if kind == "DaemonSet":
        del spec["replicas"]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def queued(name: str) -> dict[str, Any]:
    made = job(name, parallelism=2, completions=2)
    made["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    return made


@pytest.fixture
def cluster(make):
    """A sandbox of one node with one object of each controller."""
    sandbox = make(
        node("n1", cpu=64),
        flavor("f"),
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
        job("once"),
        job("indexed", completionMode="Indexed", completions=2, parallelism=2),
        queued("train"),
        replicated("Deployment", "web"),
        replicated("ReplicaSet", "lone"),
        replicated("StatefulSet", "db"),
        replicated("DaemonSet", "agent"),
    )
    actions.do_step(local_user(), sandbox.pk, ticks=6)
    tick(sandbox, 6)
    return sandbox


def pods_of(call, sandbox, selector: str) -> list[dict[str, Any]]:
    return call("get", sandbox, f"{PODS}?labelSelector={selector}").json()["items"]


def test_pods_have_the_names_of_their_controllers(call, cluster):
    names = [p["metadata"]["name"] for p in call("get", cluster, PODS).json()["items"]]
    shapes = [
        f"agent-{ENDING}",
        "db-0",
        "db-1",
        f"indexed-0-{ENDING}",
        f"indexed-1-{ENDING}",
        f"lone-{ENDING}",
        f"lone-{ENDING}",
        f"once-{ENDING}",
        f"train-{ENDING}",
        f"train-{ENDING}",
        rf"web-[456789bcdf]{{10}}-{ENDING}",
        rf"web-[456789bcdf]{{10}}-{ENDING}",
    ]
    assert len(names) == len(shapes), names
    for name, shape in zip(names, shapes, strict=True):
        assert re.fullmatch(shape, name), (name, shape)


@pytest.mark.parametrize("name", ["once", "train"])
def test_a_pod_of_a_job_is_owned_and_labelled_by_it(call, cluster, name):
    uid = call("get", cluster, f"{JOBS}/{name}").json()["metadata"]["uid"]
    pod, *_ = pods_of(call, cluster, f"batch.kubernetes.io/controller-uid={uid}")
    metadata = pod["metadata"]
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Job", name, uid)
    assert metadata["labels"]["job-name"] == name
    assert metadata["generateName"] == f"{name}-"
    assert metadata["finalizers"] == ["batch.kubernetes.io/job-tracking"]


def test_a_pod_of_a_queue_names_its_workload_and_queues(call, cluster):
    pod, *_ = pods_of(call, cluster, "job-name=train")
    labels = pod["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/cluster-queue-name"] == "team"
    assert labels["kueue.x-k8s.io/local-queue-name"] == "main"
    named = pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"]
    assert named.startswith("job-train-")


def test_a_pod_is_found_and_deleted_by_the_name_that_is_shown(call, cluster):
    pod, *_ = pods_of(call, cluster, "job-name=once")
    path = f"{PODS}/{pod['metadata']['name']}"
    assert call("get", cluster, path).json() == {
        "kind": "Pod",
        "apiVersion": "v1",
        **pod,
    }
    assert call("delete", cluster, path).status_code == 200
    assert call("get", cluster, path).status_code == 404


def test_a_patch_leaves_a_pod_its_name_and_its_owner(call, cluster):
    pod, *_ = pods_of(call, cluster, "job-name=train")
    path = f"{PODS}/{pod['metadata']['name']}"
    patched = call("patch", cluster, path, {"metadata": {"labels": {"x": "y"}}}).json()
    assert patched["metadata"]["labels"] == {**pod["metadata"]["labels"], "x": "y"}
    assert patched["metadata"]["ownerReferences"] == pod["metadata"]["ownerReferences"]
    assert patched["metadata"]["name"] == pod["metadata"]["name"]
    after = call("get", cluster, path).json()["metadata"]
    assert after["labels"]["x"] == "y"


def test_events_name_a_pod_as_it_is_listed(call, cluster):
    (pod,) = pods_of(call, cluster, "job-name=once")
    name = pod["metadata"]["name"]
    events = call("get", cluster, "/api/v1/namespaces/default/events").json()["items"]
    assert f"Created pod: {name}" in [one["message"] for one in events]
    scheduled = [e for e in events if e["involvedObject"]["name"] == name]
    assert [one["reason"] for one in scheduled] == ["Scheduled"]
    assert f"default/{name} to n1" in scheduled[0]["message"]


def test_a_deployment_has_the_replica_set_of_its_pods(call, cluster):
    sets = call("get", cluster, f"{APPS}/replicasets").json()["items"]
    made = next(s for s in sets if s["metadata"]["name"].startswith("web-"))
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Deployment"
    assert made["status"]["readyReplicas"] == 2
    for one in pods_of(call, cluster, "app=web"):
        (owner,) = one["metadata"]["ownerReferences"]
        assert owner["uid"] == made["metadata"]["uid"]
        chosen = made["spec"]["selector"]["matchLabels"].items()
        assert chosen <= one["metadata"]["labels"].items()
    name = made["metadata"]["name"]
    assert call("get", cluster, f"{APPS}/replicasets/{name}").status_code == 200


def test_a_deployment_counts_each_pod_once(call, cluster):
    status = call("get", cluster, f"{APPS}/deployments/web").json()["status"]
    counted = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    assert [status[name] for name in counted] == [2, 2, 2, 2]
    assert "unavailableReplicas" not in status
    assert [c["type"] for c in status["conditions"]] == ["Available", "Progressing"]


def test_a_pod_that_runs_says_what_a_kubelet_says(call, cluster):
    (pod,) = pods_of(call, cluster, "job-name=once")
    status = pod["status"]
    types = ["Initialized", "Ready", "ContainersReady", "PodScheduled"]
    assert [one["type"] for one in status["conditions"]] == types
    assert status["containerStatuses"][0]["state"] == {
        "running": {"startedAt": status["startTime"]}
    }
    assert status["qosClass"] == "Burstable"


def test_a_workload_does_not_show_when_the_simulation_lets_it_arrive(call, cluster):
    path = "/apis/kueue.x-k8s.io/v1beta2/workloads"
    (workload,) = call("get", cluster, path).json()["items"]
    assert "annotations" not in workload["metadata"]
    types = [one["type"] for one in workload["status"]["conditions"]]
    assert types == ["QuotaReserved", "Admitted", "PodsReady"]
    inner = workload["spec"]["podSets"][0]["template"]["metadata"]
    assert inner["labels"] == {"batch.kubernetes.io/job-name": "train"}


def test_a_page_of_pods_goes_on_where_it_is_kept(call, cluster):
    names, token = [], ""
    while True:
        body = call("get", cluster, f"{PODS}?limit=5&continue={token}").json()
        names += [item["metadata"]["name"] for item in body["items"]]
        token = body["metadata"].get("continue", "")
        if not token:
            break
    every = [p["metadata"]["name"] for p in call("get", cluster, PODS).json()["items"]]
    assert sorted(names) == every


@given(st.text(min_size=1, max_size=80), st.integers(0, 10_000))
def test_pods_that_came_by_themselves_keep_their_names(owner, number):
    owners = Owners(lambda *_: [])
    for name in (f"{owner}x-{number}", f"{owner}-{number}-abcde"):
        reference = {"kind": "Job", "name": owner, "uid": "u", "controller": True}
        metadata = {"name": name, "namespace": "d", "ownerReferences": [reference]}
        document = {"kind": "Pod", "metadata": metadata}
        if name.startswith(f"{owner}-") and name.endswith(f"-{number}"):
            continue
        assert controlled.shown(document, owners) == document


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8)))
def test_the_hash_of_a_template_has_the_letters_of_the_real_one(labels):
    found = controlled.template_hash({"metadata": {"labels": labels}})
    assert re.fullmatch("[456789bcdf]{10}", found)


def test_an_owner_is_asked_for_once():
    asked = []

    def look_up(kind, namespace, names):
        asked.append(kind)
        return [(name, {"metadata": {}}, {}) for name in names]

    owners = Owners(look_up)
    for _ in range(3):
        assert owners.get("Job", "d", "a") == Known({"metadata": {}}, {})
    assert asked == ["Job"]


def test_custom_kinds_have_definitions_and_built_in_ones_none(call, busy):
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    items = call("get", busy, path).json()["items"]
    names = [one["metadata"]["name"] for one in items]
    assert names == sorted(names)
    assert "workloads.kueue.x-k8s.io" in names
    assert "jobs.batch" not in names
    one = call("get", busy, f"{path}/clusterqueues.kueue.x-k8s.io").json()
    first, *_ = one["spec"]["versions"]
    assert (first["name"], first["storage"]) == ("v1beta2", True)
    assert first["additionalPrinterColumns"][0]["name"] == "Cohort"


def test_a_debugger_is_added_to_a_pod(call, client, make):
    sandbox = make(pod("lone", cpu=1))
    path = f"/api/v1/sandboxes/{sandbox.pk}{PODS}/lone/ephemeralcontainers"
    given = {"spec": {"ephemeralContainers": [{"name": "d", "image": "busybox"}]}}
    media = "application/strategic-merge-patch+json"
    answer = client.patch(path, json.dumps(given), content_type=media)
    assert answer.status_code == 200
    kept = call("get", sandbox, f"{PODS}/lone").json()["spec"]
    assert [one["name"] for one in kept["ephemeralContainers"]] == ["d"]


def test_a_name_that_is_no_label_is_refused_for_a_job(call, busy):
    refused = call("post", busy, JOBS, job("x" * 64)).json()
    (cause,) = refused["details"]["causes"]
    assert cause["field"] == "spec.template.labels"
    assert cause["message"].endswith("must be no more than 63 bytes")


def test_a_queue_that_waits_for_its_queue_is_made_without_a_warning(call, busy):
    path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"
    made = call("post", busy, path, local_queue("late", cluster_queue="nothing"))
    assert (made.status_code, made.headers.get("Warning")) == (201, None)


def test_a_daemon_set_counts_its_pods(call, cluster):
    found = call("get", cluster, f"{APPS}/daemonsets/agent").json()
    status = found["status"]
    counted = ("desiredNumberScheduled", "numberReady", "numberAvailable")
    assert [status[name] for name in counted] == [1, 1, 1]
    noted = found["metadata"]["annotations"]
    assert noted == {"deprecated.daemonset.template.generation": "1"}


@pytest.mark.parametrize(
    ("spec", "desired", "allowed"),
    [
        ({"minAvailable": 1}, 1, 1),
        ({"minAvailable": "60%"}, 2, 0),
        ({"maxUnavailable": 1}, 1, 1),
    ],
)
def test_a_disruption_budget_says_how_many_may_go(
    call, cluster, spec, desired, allowed
):
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    budget = {"metadata": {"name": "b"}, "spec": {**spec, "selector": SELECTOR}}
    assert call("post", cluster, path, budget).status_code == 201
    status = call("get", cluster, f"{path}/b").json()["status"]
    assert (status["expectedPods"], status["currentHealthy"]) == (2, 2)
    assert status["desiredHealthy"] == desired
    assert status["disruptionsAllowed"] == allowed


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/api/v1/namespaces", {"kube-node-lease", "kube-public", "kube-system"}),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"system-cluster-critical", "system-node-critical"},
        ),
    ],
)
def test_a_cluster_has_some_objects_from_its_beginning(call, busy, path, names):
    items = call("get", busy, path).json()["items"]
    assert names <= {one["metadata"]["name"] for one in items}
    for name in names:
        assert call("get", busy, f"{path}/{name}").status_code == 200


def test_a_service_has_an_address_and_a_headless_one_none(call, busy):
    path = "/api/v1/namespaces/default/services"
    for name, more in (("web", {}), ("headless", {"clusterIP": "None"})):
        service = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
        service["spec"] |= more
        made = call("post", busy, path, service).json()["spec"]
        assert made["clusterIPs"] == [made["clusterIP"]]
        assert (made["clusterIP"] == "None") == bool(more)
        assert made == call("get", busy, f"{path}/{name}").json()["spec"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (1, "1"),
        (0.25, "250m"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("512Ki", "512Ki"),
        ("2000k", "2M"),
        ("1e3", "1e3"),
        ("0Gi", "0"),
        ("0.1Ki", "102400m"),
    ],
)
def test_a_quantity_is_read_back_as_go_writes_it(given, read):
    assert presenting.canonical_quantity(given) == read


@given(st.integers(0, 10**12), st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "e3"]))
def test_a_quantity_that_is_written_back_is_the_same_amount(number, suffix):
    written = presenting.canonical_quantity(f"{number}{suffix}")
    assert parse(written) == parse(f"{number}{suffix}")
    assert presenting.canonical_quantity(written) == written


def test_a_quota_is_made_without_a_warning(call, busy):
    path = "/api/v1/namespaces/default/resourcequotas"
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"cpu": 1}}}
    made = call("post", busy, path, quota)
    assert (made.status_code, made.headers.get("Warning")) == (201, None)
    assert made.json()["spec"] == {"hard": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ({}, "BestEffort"),
        ({"requests": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        (
            {
                "limits": {"cpu": "1", "memory": "1Gi"},
                "requests": {"cpu": "1000m", "memory": "1024Mi"},
            },
            "Guaranteed",
        ),
        (
            {
                "limits": {"cpu": "1", "memory": "1Gi"},
                "requests": {"cpu": "500m"},
            },
            "Burstable",
        ),
    ],
    ids=["none", "other", "asks", "limit", "limits", "equal", "less"],
)
def test_a_pod_has_the_class_of_service_of_its_resources(call, make, resources, found):
    one = pod("lone", cpu=1)
    one["spec"]["containers"] = [{"name": "c", "image": "i", "resources": resources}]
    sandbox = make(one)
    status = call("get", sandbox, f"{PODS}/lone").json()["status"]
    assert status["qosClass"] == found


def _of_image(call, sandbox, path, image):
    containers = [{"name": "main", "image": image}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    assert call("patch", sandbox, path, patch).status_code == 200


def test_a_deployment_goes_back_to_a_template_that_it_had(call, make):
    sandbox = make(node("n1", cpu=4))
    path = f"{APPS}/deployments"
    call("post", sandbox, path, replicated("Deployment", "web"))
    tick(sandbox, 3)
    for image in ("one", "two", "one"):
        _of_image(call, sandbox, f"{path}/web", image)
    found = {
        one["spec"]["template"]["spec"]["containers"][0]["image"]: (
            one["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
            one["spec"]["replicas"],
        )
        for one in call("get", sandbox, f"{APPS}/replicasets").json()["items"]
    }
    assert found == {"busybox": ("1", 0), "two": ("3", 0), "one": ("4", 2)}


def test_a_stateful_set_lists_its_revisions(call, make):
    sandbox = make(node("n1", cpu=4))
    path = f"{APPS}/statefulsets"
    call("post", sandbox, path, replicated("StatefulSet", "web"))
    _of_image(call, sandbox, f"{path}/web", "two")
    shown = call("get", sandbox, f"{APPS}/controllerrevisions").json()["items"]
    assert sorted(one["revision"] for one in shown) == [1, 2]
    assert "revisions" not in call("get", sandbox, f"{path}/web").json()["metadata"]


def test_each_workload_of_a_job_or_pod_says_from_the_start_that_its_pods_wait(
    call, make
):
    large = queued("large")
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "99"}
    }
    alone = pod("alone", cpu=99)
    alone["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    sandbox = make(
        flavor("f"),
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
        large,
        alone,
    )
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    items = call("get", sandbox, "/apis/kueue.x-k8s.io/v1beta2/workloads").json()
    said = [
        [one["reason"] for one in item["status"]["conditions"] if one["type"] == READY]
        for item in items["items"]
    ]
    assert said == [["WaitForStart"]] * 2
