"""What kubectl asks before it writes: OpenAPI, rights, encodings, trailing slashes."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from api.cluster.protobuf import MEDIA
from sandbox import actions
from tests.builders import cluster_queue

pytestmark = pytest.mark.django_db
KUEUE = "apis/kueue.x-k8s.io/v1beta2"
REVIEWS = "/apis/authorization.k8s.io/v1"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def _may(call, sandbox, verb, resource, group="", **more):
    asked = {"verb": verb, "resource": resource, "group": group, **more}
    body = {"spec": {"resourceAttributes": asked}}
    answer = call("post", sandbox, f"{REVIEWS}/selfsubjectaccessreviews", body)
    assert answer.status_code == 201
    return answer.json()["status"]


def _document(call, busy, place=KUEUE):
    index = call("get", busy, "/openapi/v3").json()["paths"]
    address = index[place]["serverRelativeURL"]
    below = address.removeprefix(f"/api/v1/sandboxes/{busy.pk}")
    answer = call("get", busy, below)
    assert answer["ETag"].strip('"') == address.partition("?hash=")[2]
    return answer.json()


def test_every_group_version_that_is_discovered_has_a_document(call, busy):
    listed = call("get", busy, "/openapi/v3").json()["paths"]
    groups = call("get", busy, "/apis").json()["groups"]
    with_objects = {
        f"apis/{version['groupVersion']}"
        for group in groups
        if not group["name"].startswith(("visibility.", "auth"))
        for version in group["versions"]
    }
    assert set(listed) == with_objects | {"api/v1"}


def test_a_schema_is_found_by_its_kind_and_describes_what_is_read(call, busy):
    schemas = _document(call, busy)["components"]["schemas"]
    queue = schemas["io.x-k8s.kueue.v1beta2.ClusterQueue"]
    wanted = {"group": "kueue.x-k8s.io", "version": "v1beta2", "kind": "ClusterQueue"}
    assert queue["x-kubernetes-group-version-kind"] == [wanted]
    group = queue["properties"]["spec"]["properties"]["resourceGroups"]["items"]
    quota = group["properties"]["flavors"]["items"]["properties"]["resources"]["items"]
    assert "own quota" in quota["properties"]["nominalQuota"]["description"]


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_no_reference_leads_nowhere(call, busy, version):
    if version == "v2":
        document = call("get", busy, "/openapi/v2").json()
        head, names = "#/definitions/", document["definitions"]
    else:
        document = _document(call, busy, "api/v1")
        head, names = "#/components/schemas/", document["components"]["schemas"]
    text = json.dumps(document)
    used = {part.partition('"')[0] for part in text.split('"$ref": "')[1:]}
    assert used
    assert used <= {f"{head}{name}" for name in names}


def test_a_patch_says_that_it_takes_dry_run_and_validation(call, busy):
    paths = _document(call, busy)["paths"]
    patch = paths["/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{name}"]["patch"]
    names = {parameter["name"] for parameter in patch["parameters"]}
    assert {"dryRun", "fieldValidation"} <= names
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "ClusterQueue"


def test_what_is_in_the_sandbox_fits_its_schema(call, busy):
    document = _document(call, busy)
    name = "io.x-k8s.kueue.v1beta2.ClusterQueueList"
    schema = {**document, "$ref": f"#/components/schemas/{name}"}
    listed = call("get", busy, f"/{KUEUE}/clusterqueues").json()
    assert listed["items"]
    Draft202012Validator(schema).validate(listed)


def test_an_owner_may_do_all_but_write_events(call, busy):
    assert _may(call, busy, "create", "clusterqueues", "kueue.x-k8s.io")["allowed"]
    assert _may(call, busy, "*", "*", "*")["allowed"]
    assert _may(call, busy, "create", "pods", subresource="eviction")["allowed"]
    assert not _may(call, busy, "delete", "events")["allowed"]
    assert _may(call, busy, "get", "ingresses", "networking.k8s.io")["allowed"]


def test_who_may_only_look_may_only_look(client, call, busy, stranger, settings):
    settings.SERVER = True
    actions.do_set_visibility(busy.owner, busy.pk, "public")
    client.force_authenticate(stranger)
    assert _may(call, busy, "list", "pods")["allowed"]
    refused = _may(call, busy, "create", "pods")
    assert not refused["allowed"]
    assert "not change" in refused["reason"]
    path = f"{REVIEWS}/selfsubjectrulesreviews"
    rules = call("post", busy, path, {"spec": {"namespace": "default"}}).json()
    verbs = {
        verb
        for rule in rules["status"]["resourceRules"]
        if rule["apiGroups"] != ["authorization.k8s.io"]
        for verb in rule["verbs"]
    }
    assert verbs == {"get", "list", "watch"}


def test_version_2_in_protobuf_defines_nothing(call, busy):
    answer = call("get", busy, "/openapi/v2", Accept=PROTOBUF)
    assert (answer.status_code, answer.content[:5]) == (200, b"\x0a\x032.0")


def test_protobuf_is_answered_in_json_to_who_reads_that_too(call, busy):
    accept = "application/vnd.kubernetes.protobuf, application/json"
    answer = call("get", busy, f"/{KUEUE}/clusterqueues", Accept=accept)
    assert answer.json()["items"]
    refused = call("get", busy, f"/{KUEUE}/clusterqueues", Accept=MEDIA)
    assert refused.status_code == 406
    assert "application/json" in refused.json()["message"]


def test_a_slash_at_the_end_changes_nothing(call, busy):
    for path in ("/apis", "/api/v1", "/openapi/v3", f"/{KUEUE}", f"/{KUEUE}/workloads"):
        plain, slashed = call("get", busy, path), call("get", busy, f"{path}/")
        assert slashed.status_code == 200
        assert slashed.json() == plain.json()
    made = call("post", busy, f"/{KUEUE}/clusterqueues/", cluster_queue("fresh"))
    assert made.status_code == 201


def test_kubectl_asks_what_it_may_do_in_protobuf(client, busy):
    verb, group, name = (
        b"\x12\x06create",
        b"\x1a\x0ekueue.x-k8s.io",
        b"\x2a\x0dclusterqueues",
    )
    attributes = verb + group + name
    spec = b"\x0a" + bytes([len(attributes)]) + attributes
    review = b"\x0a\x00\x12" + bytes([len(spec)]) + spec
    kind = b"SelfSubjectAccessReview"
    version = b"authorization.k8s.io/v1"
    of_type = b"\x0a" + bytes([len(version)]) + version
    of_type += b"\x12" + bytes([len(kind)]) + kind
    body = b"k8s\x00\x0a" + bytes([len(of_type)]) + of_type
    body += b"\x12" + bytes([len(review)]) + review
    url = f"/api/v1/sandboxes/{busy.pk}{REVIEWS}/selfsubjectaccessreviews"
    media = "application/vnd.kubernetes.protobuf"
    answer = client.post(url, data=body, content_type=media).json()
    assert answer["spec"]["resourceAttributes"]["resource"] == "clusterqueues"
    assert answer["status"] == {"allowed": True}
    cut = client.post(url, data=body[:-4], content_type=media)
    assert cut.status_code == 400


def test_a_dry_run_of_a_change_keeps_status_and_version(call, busy):
    path = f"/{KUEUE}/clusterqueues/a"
    before = call("get", busy, path).json()
    given = cluster_queue("a", cpu=9)
    given["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
    after = call("put", busy, f"{path}?dryRun=All", given).json()
    assert after["status"] == before["status"]
    assert after["metadata"] == before["metadata"]
    assert after["spec"] != before["spec"]
