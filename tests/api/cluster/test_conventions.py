"""What Kubernetes users expect of every answer, line by line."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.builders import cluster_queue, flavor, job, local_queue, pod
from tests.sandbox.conftest import row, text_of, tick

pytestmark = [pytest.mark.django_db]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
QUEUE = f"{KUEUE}/clusterqueues/a"
OURS = "/objects/ClusterQueue/-/a"
HOLD = {"spec": {"stopPolicy": "Hold"}}


def bad_quota() -> dict:
    return cluster_queue("bad", cpu=4) | {"spec": {"stopPolicy": "Perhaps"}}


REFUSALS = [
    ("get", f"{KUEUE}/clusterqueues/none", None, {}, 404, "NotFound"),
    ("get", f"{KUEUE}/nothings", None, {}, 404, "NotFound"),
    ("get", "/apis/nothing.io/v1/things", None, {}, 404, "NotFound"),
    ("get", "/tables/nothings", None, {}, 404, "NotFound"),
    ("post", f"{KUEUE}/clusterqueues", cluster_queue("a"), {}, 409, "AlreadyExists"),
    ("post", f"{KUEUE}/clusterqueues", bad_quota(), {}, 422, "Invalid"),
    ("post", f"{KUEUE}/clusterqueues", flavor("x"), {}, 400, "BadRequest"),
    ("get", f"{KUEUE}/clusterqueues?limit=x", None, {}, 400, "BadRequest"),
    ("get", f"{KUEUE}/workloads?limit=1&continue=zz", None, {}, 400, "BadRequest"),
    ("get", f"{KUEUE}/workloads?watch=1&resourceVersion=9999", None, {}, 504, None),
    ("put", OURS, cluster_queue("a"), {"If-Match": '"0"'}, 412, "PreconditionFailed"),
    ("patch", OURS, HOLD, {"If-Match": '"0"'}, 412, "PreconditionFailed"),
    ("delete", OURS, None, {"If-Match": '"0"'}, 412, "PreconditionFailed"),
    ("put", QUEUE, cluster_queue("a"), {"If-Match": '"0"'}, 412, None),
    ("patch", QUEUE, HOLD, {"If-Match": '"0"'}, 412, "PreconditionFailed"),
    ("delete", QUEUE, None, {"If-Match": '"0"'}, 412, "PreconditionFailed"),
    ("post", QUEUE, {}, {}, 405, "MethodNotAllowed"),
    ("post", "/actions/step", {"ticks": "many"}, {}, 422, "Invalid"),
    ("post", "/actions/nothing", {}, {}, 404, "NotFound"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "code", "reason"),
    REFUSALS,
    ids=[f"{n} {line[0]} {line[4]}" for n, line in enumerate(REFUSALS)],
)
def test_a_refusal_is_a_status(call, busy, method, path, body, headers, code, reason):
    answer = call(method, busy, path, body, **headers)
    status = answer.json()
    assert (answer.status_code, status["code"]) == (code, code)
    assert (status["kind"], status["apiVersion"]) == ("Status", "v1")
    assert status["status"] == "Failure"
    assert status["message"]
    assert reason in (None, status["reason"])


def test_causes_name_the_field_and_what_is_wrong_with_it(call, busy):
    status = call("post", busy, f"{KUEUE}/clusterqueues", bad_quota()).json()
    cause = status["details"]["causes"][0]
    assert (cause["field"], cause["reason"]) == (
        "spec.stopPolicy",
        "FieldValueNotSupported",
    )
    assert "Perhaps" in cause["message"]


@pytest.mark.parametrize("path", [QUEUE, OURS])
def test_who_has_the_newest_version_is_not_sent_it_again(call, busy, path):
    tag = call("get", busy, path).headers["ETag"]
    again = call("get", busy, path, **{"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    call("patch", busy, OURS, HOLD)
    assert call("get", busy, path, **{"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("path", [QUEUE, OURS])
def test_a_matching_version_lets_an_edit_pass(call, busy, path):
    tag = call("get", busy, path).headers["ETag"]
    assert call("patch", busy, path, HOLD, **{"If-Match": tag}).status_code == 200


DRY = [
    ("post", f"{KUEUE}/resourceflavors?dryRun=All", flavor("new"), 201),
    ("put", f"{QUEUE}?dryRun=All", cluster_queue("a", cpu=9), 200),
    ("patch", f"{QUEUE}?dryRun=All", HOLD, 200),
    ("delete", f"{QUEUE}?dryRun=All", None, 200),
    ("delete", f"{KUEUE}/namespaces/default/workloads?dryRun=All", None, 200),
    ("put", f"{OURS}?dryRun=All", cluster_queue("a", cpu=9), 200),
    ("patch", "/policy?dryRun=All", {"spec": {"kueue": {"fairSharing": {}}}}, 200),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    DRY,
    ids=[f"{n} {d[0]}" for n, d in enumerate(DRY)],
)
def test_a_dry_run_answers_and_changes_nothing(call, busy, method, path, body, code):
    tick(busy, 2)
    if method == "put" and path.startswith(KUEUE):
        version = call("get", busy, path).json()["metadata"]["resourceVersion"]
        metadata = {**body["metadata"], "resourceVersion": version}
        body = {**body, "metadata": metadata}
    before = row(busy)
    answer = call(method, busy, path, body)
    assert answer.status_code == code, answer.content
    after = row(busy)
    assert (after.revision, after.hash) == (before.revision, before.hash)


def test_a_list_has_kind_version_and_how_many_remain(call, busy):
    tick(busy, 8)
    body = call("get", busy, f"{KUEUE}/workloads?limit=2").json()
    assert (body["kind"], body["apiVersion"]) == ("WorkloadList", KUEUE[6:])
    metadata = body["metadata"]
    assert isinstance(metadata["resourceVersion"], str)
    every = call("get", busy, f"{KUEUE}/workloads").json()["items"]
    assert metadata["remainingItemCount"] == len(every) - 2
    assert metadata["continue"]


def test_an_object_has_the_metadata_of_kubernetes(call, busy):
    metadata = call("get", busy, QUEUE).json()["metadata"]
    fields = {"uid", "generation", "creationTimestamp", "resourceVersion", "name"}
    assert fields <= metadata.keys()
    assert isinstance(metadata["resourceVersion"], str)


def test_conditions_are_keyed_by_type_and_whole(call, busy):
    tick(busy, 8)
    found = call("get", busy, f"{KUEUE}/workloads").json()["items"]
    for workload in found:
        conditions = workload["status"].get("conditions", [])
        types = [condition["type"] for condition in conditions]
        assert len(types) == len(set(types))
        for condition in conditions:
            assert condition["status"] in ("True", "False", "Unknown")
            assert condition["reason"].isalnum()
            assert condition["lastTransitionTime"]


@pytest.mark.parametrize(
    "selector",
    [
        "metadata.name=job-00",
        "metadata.namespace=default",
        "status.admission.clusterQueue=a",
    ],
)
def test_workloads_are_picked_by_field(call, busy, selector):
    tick(busy, 8)
    name, _, value = selector.partition("=")
    found = call("get", busy, f"{KUEUE}/workloads?fieldSelector={selector}").json()
    every = call("get", busy, f"{KUEUE}/workloads").json()["items"]

    def field(document):
        for part in name.split("."):
            document = document.get(part, {})
        return document

    assert found["items"] == [w for w in every if field(w) == value]


def test_yaml_comes_to_who_accepts_it_or_asks_for_it(call, busy):
    asked = call("get", busy, QUEUE, Accept="application/yaml")
    spelled = call("get", busy, f"{QUEUE}?output=yaml")
    for answer in (asked, spelled):
        assert answer.headers["Content-Type"].startswith("application/yaml")
        assert yaml.safe_load(answer.content)["metadata"]["name"] == "a"


def test_yaml_is_taken_by_the_clusters_paths(client, busy):
    url = f"/api/v1/sandboxes/{busy.pk}{KUEUE}/clusterqueues"
    text = text_of(cluster_queue("y"))
    assert client.post(url, text, content_type="application/yaml").status_code == 201


def test_many_documents_and_a_list_are_imported_alike(client, call, make):
    objects = [flavor(), cluster_queue("a"), local_queue("d", cluster_queue="a")]
    texts = [text_of(*objects), text_of({"kind": "List", "items": objects})]
    counts = []
    for text in texts:
        sandbox = make()
        url = f"/api/v1/sandboxes/{sandbox.pk}/actions/import"
        answer = client.post(url, text, content_type="application/yaml")
        counts.append(len(answer.json()["created"]))
    assert counts == [3, 3]


def test_too_many_requests_get_when_to_come_back(client, busy, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_all": 2}
    url = f"/api/v1/sandboxes/{busy.pk}"
    answers = [client.get(url) for _ in range(4)]
    refused = answers[-1]
    assert (refused.status_code, refused.json()["reason"]) == (429, "TooManyRequests")
    assert int(refused.headers["Retry-After"]) > 0


def test_a_replayed_key_answers_and_does_nothing_more(call, busy):
    headers = {"Idempotency-Key": "once"}
    body = {"files": [{"name": "f.yaml", "text": text_of(flavor("new"))}]}
    first = call("post", busy, "/actions/import", body, **headers)
    revision = row(busy).revision
    again = call("post", busy, "/actions/import", body, **headers)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert row(busy).revision == revision
    other = call("post", busy, "/actions/pause", {}, **headers)
    assert (other.status_code, other.json()["reason"]) == (409, "Conflict")


def test_what_a_cluster_would_do_and_nothing_here_does_is_said_once(call, busy):
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}

    def made(name: str):
        scaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name},
            "spec": {"maxReplicas": 3, "scaleTargetRef": target},
        }
        return call("post", busy, path, scaler).headers.get("Warning", "")

    assert made("first").startswith("299 ")
    assert made("second") == ""


def test_what_decides_nothing_in_a_cluster_either_comes_without_a_warning(call, busy):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    answer = call("post", busy, "/api/v1/namespaces/default/secrets", secret)
    assert (answer.status_code, "Warning" in answer.headers) == (201, False)


def test_a_job_is_listed_in_its_namespace_only(call, make):
    sandbox = make(flavor(), cluster_queue("a"), local_queue("d", cluster_queue="a"))
    made = job("j", queue="d")
    path = "/apis/batch/v1/namespaces/default/jobs"
    assert call("post", sandbox, path, made).status_code == 201
    assert len(call("get", sandbox, path).json()["items"]) == 1
    other = call("get", sandbox, "/apis/batch/v1/namespaces/other/jobs").json()
    assert json.dumps(other["items"]) == "[]"


PODS = "/api/v1/namespaces/default/pods"


def slip(**spec: object) -> dict:
    made = pod("slip")
    made["spec"] = {**made["spec"], **spec}
    return made


def test_a_field_that_a_pod_does_not_have_is_refused_by_a_strict_write(call, busy):
    given = slip(nodeSelectors={}, containers=[{"name": "c", "imagee": "x"}])
    answer = call("post", busy, f"{PODS}?fieldValidation=Strict", given)
    assert answer.status_code == 400
    assert 'unknown field "spec.nodeSelectors"' in answer.json()["message"]
    assert 'unknown field "spec.containers[0].imagee"' in answer.json()["message"]
    assert call("get", busy, f"{PODS}/slip").status_code == 404


def test_a_field_that_a_config_map_does_not_have_is_named(call, busy):
    path = "/api/v1/namespaces/default/configmaps"
    given = {"kind": "ConfigMap", "metadata": {"name": "slip", "lables": {}}, "dat": {}}
    strict = call("post", busy, f"{path}?fieldValidation=Strict", given)
    said = (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding '
        'error: unknown field "metadata.lables", unknown field "dat"'
    )
    assert (strict.status_code, strict.json()["message"]) == (400, said)


@pytest.mark.parametrize(("choice", "warned"), [("Warn", True), ("Ignore", False)])
def test_such_a_field_is_dropped_with_a_warning_or_without_one(
    call, busy, choice, warned
):
    path = f"{PODS}?fieldValidation={choice}"
    answer = call("post", busy, path, slip(nodeSelectors={}))
    assert answer.status_code == 201
    assert ("spec.nodeSelectors" in answer.headers.get("Warning", "")) is warned
    assert "nodeSelectors" not in answer.json()["spec"]
    later = {"metadata": {"labels": {"a": "b"}}}
    strict = f"{PODS}/slip?fieldValidation=Strict"
    assert call("patch", busy, strict, later).status_code == 200


def test_a_field_that_a_job_does_not_have_is_refused_by_a_strict_write(call, busy):
    spec = {"paralelism": 2, "template": {"spec": slip(nodeSelectr={})["spec"]}}
    spec["template"]["spec"] |= {"restartPolicy": "Never"}
    given = {"kind": "Job", "metadata": {"name": "slip"}, "spec": spec}
    path = "/apis/batch/v1/namespaces/default/jobs"
    strict = call("post", busy, f"{path}?fieldValidation=Strict", given)
    assert strict.status_code == 400
    for field in ("spec.paralelism", "spec.template.spec.nodeSelectr"):
        assert f'unknown field "{field}"' in strict.json()["message"]
    warned = call("post", busy, f"{path}?dryRun=All", given).headers["Warning"]
    assert warned.count("paralelism") == 1


def test_a_strict_write_takes_the_scheduling_group_of_a_pod(call, busy):
    given = slip(schedulingGroup={"podGroupName": "g"})
    answer = call("post", busy, f"{PODS}?dryRun=All&fieldValidation=Strict", given)
    assert answer.status_code == 201, answer.content


def test_an_unknown_field_of_a_kind_of_kueue_is_pruned_unless_a_write_is_strict(
    call, busy
):
    path, given = f"{KUEUE}/clusterqueues", cluster_queue("slip")
    given["spec"] |= {"cohort": "x", "preemptions": {}}
    given["spec"]["resourceGroups"][0]["flavours"] = []
    strict = call("post", busy, f"{path}?fieldValidation=Strict", given)
    assert strict.status_code == 400
    for field in ("cohort", "preemptions", "resourceGroups[0].flavours"):
        assert f'unknown field "spec.{field}"' in strict.json()["message"]
    for choice, warned in (("Ignore", False), ("Warn", True)):
        tried = f"{path}?dryRun=All&fieldValidation={choice}"
        answer = call("post", busy, tried, given)
        assert answer.status_code == 201, answer.content
        assert ("spec.preemptions" in answer.headers.get("Warning", "")) is warned
        assert not {"cohort", "preemptions"} & set(answer.json()["spec"])
    later = {"spec": {"stopPolicies": "Hold"}}
    answer = call("patch", busy, QUEUE, later)
    assert answer.status_code == 200
    assert "spec.stopPolicies" in answer.headers["Warning"]


def test_a_field_validation_that_is_none_is_refused(call, busy):
    answer = call("post", busy, f"{PODS}?fieldValidation=Soon", slip())
    assert answer.status_code == 422
    assert "supported values" in answer.json()["message"]


@pytest.mark.parametrize("depth", [50, 300, 600, 900, 1_000, 2_000, 100_000])
@pytest.mark.parametrize(("head", "tail"), [('{"a":', "}"), ("[", "]")])
@pytest.mark.parametrize("method", ["post", "patch", "delete"])
def test_no_depth_of_a_body_is_a_defect(client, make, method, head, tail, depth):
    sandbox = make(flavor("default"))
    path = f"{KUEUE}/resourceflavors" + ("" if method == "post" else "/default")
    url = f"/api/v1/sandboxes/{sandbox.pk}{path}"
    media = "application/merge-patch+json" if method == "patch" else "application/json"
    body = head * depth + "1" + tail * depth
    answer = getattr(client, method)(url, data=body, content_type=media)
    assert answer.status_code < 500, answer.content[:200]
    assert answer.json()["kind"] in ("Status", "ResourceFlavor")


WRONG_PATCHES = [
    ("merge-patch", "json: cannot unmarshal string into Go struct field"),
    ("strategic-merge-patch", "unrecognized type: int32"),
]


@pytest.mark.parametrize(("media", "problem"), WRONG_PATCHES)
def test_a_patch_to_another_type_makes_the_object_invalid(call, busy, media, problem):
    call("post", busy, "/apis/batch/v1/namespaces/default/jobs", job("typed"))
    answer = call(
        "patch",
        busy,
        "/apis/batch/v1/namespaces/default/jobs/typed",
        {"spec": {"parallelism": "x"}},
        content_type=f"application/{media}+json",
    )
    status = answer.json()
    assert (answer.status_code, status["reason"]) == (422, "Invalid")
    assert problem in status["message"]
    assert [cause["field"] for cause in status["details"]["causes"]] == ["patch"]


@pytest.mark.parametrize("labels", ["x", 1, ["a"]])
def test_labels_of_a_custom_resource_that_are_no_map_are_not_decoded(
    call, busy, labels
):
    wrong = cluster_queue("wrong")
    wrong["metadata"]["labels"] = labels
    answer = call("post", busy, f"{KUEUE}/clusterqueues", wrong)
    status = answer.json()
    assert (answer.status_code, status["reason"]) == (400, "BadRequest")
    assert "ObjectMeta.labels of type map[string]string" in status["message"]


@pytest.mark.parametrize("media", ["merge-patch", "json-patch"])
@pytest.mark.parametrize(
    "field", ["labels", "annotations", "ownerReferences", "finalizers"]
)
def test_metadata_of_a_custom_resource_is_patched_to_no_other_type(
    client, call, busy, media, field
):
    call("post", busy, f"{KUEUE}/clusterqueues", cluster_queue("typed"))
    url = f"/api/v1/sandboxes/{busy.pk}{KUEUE}/clusterqueues/typed"
    body = (
        {"metadata": {field: "x"}}
        if media == "merge-patch"
        else [{"op": "add", "path": f"/metadata/{field}", "value": "x"}]
    )
    kind = f"application/{media}+json"
    answer = client.patch(url, data=json.dumps(body), content_type=kind)
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert f"ObjectMeta.{field} of type " in answer.json()["message"]


def test_a_container_of_a_workload_that_is_null_is_refused(call, busy):
    podset = {"name": "main", "count": 1, "template": pod("p", cpu=1)}
    podset["template"]["spec"]["containers"] = [None]
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podSets": [podset]},
    }
    answer = call("post", busy, f"{KUEUE}/namespaces/default/workloads", workload)
    assert answer.status_code == 422
    assert (
        'containers[0] in body must be of type object: "null"'
        in answer.json()["message"]
    )


def test_a_lease_is_kept_and_listed_with_its_holder(call, busy):
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "mine", "namespace": "default"},
        "spec": {"holderIdentity": "me"},
    }
    call("post", busy, leases, lease)
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    rows = call("get", busy, leases, Accept=accept).json()["rows"]
    assert rows[0]["cells"][:2] == ["mine", "me"]


#: Kind -> (fields, what Kubernetes 1.36 says of them with Kueue's definitions).
OF_A_SCHEMA = {
    "ProvisioningRequestConfig": (
        {"spec": {"provisioningClassName": "x", "parameters": {"a": 3}}},
        'spec.parameters.a: Invalid value: "integer": spec.parameters.a in body must be '
        'of type string: "integer"',
    ),
    "ClusterQueue": (
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [
            {"name": "c", "onFlavors": ["f", "f"]}]}}},
        "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Duplicate value: "
        '"f"',
    ),
    "WorkloadPriorityClass": (
        {"value": 3_000_000_000},
        '<nil>: Invalid value: "": Checked value must be of type integer with format '
        "int32 in value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OF_A_SCHEMA)
def test_what_a_definitions_schema_forbids_is_said_as_a_cluster_says_it(
    call, busy, kind
):
    fields, said = OF_A_SCHEMA[kind]
    group = "kueue.x-k8s.io/v1beta2"
    body = {"apiVersion": group, "kind": kind, "metadata": {"name": "a"}, **fields}
    plural = f"{kind.lower()}s".replace("classs", "classes")
    answer = call("post", busy, f"/apis/{group}/{plural}", body)
    assert answer.status_code == 422
    assert answer.json()["message"] == f'{kind}.kueue.x-k8s.io "a" is invalid: {said}'


def test_a_field_of_another_version_is_pruned_with_a_warning(call, busy):
    group = "kueue.x-k8s.io/v1beta1"
    spec = {"namespaceSelector": {}, "cohortName": "lab"}
    body = {"apiVersion": group, "kind": "ClusterQueue", "metadata": {"name": "fresh"}}
    answer = call("post", busy, f"/apis/{group}/clusterqueues", {**body, "spec": spec})
    assert answer.status_code == 201
    assert "unknown field" in answer["Warning"]
    assert "spec.cohortName" in answer["Warning"]
    assert "cohort" not in answer.json()["spec"]
