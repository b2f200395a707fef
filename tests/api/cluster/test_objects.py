"""A sandbox answers as an API server does: lists, tables, writes, watches."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.test import AsyncClient
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Sandbox
from scheduler.model.objects import Key
from tests import stored
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def raw(client: APIClient, method: str, url: str, body: str, kind: str):
    return getattr(client, method)(url, body, content_type=kind)


def url(sandbox: Sandbox, path: str) -> str:
    return f"/api/v1/sandboxes/{sandbox.pk}{path}"


def test_discovery_names_every_group_and_its_resources(call, busy):
    groups = call("get", busy, "/apis").json()["groups"]
    assert {"kueue.x-k8s.io", "batch"} <= {group["name"] for group in groups}
    for path in ("/api", "/version", "/api/v1", "/apis/batch", KUEUE):
        assert call("get", busy, path).status_code == 200
    lines = call("get", busy, KUEUE).json()["resources"]
    workloads = next(line for line in lines if line["name"] == "workloads")
    assert (workloads["namespaced"], workloads["kind"]) == (True, "Workload")
    nothing = call("get", busy, "/apis/nothing.io")
    assert (nothing.status_code, nothing.content) == (404, b"404 page not found\n")


def test_all_of_discovery_comes_at_once_to_who_takes_it(call, busy):
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = call("get", busy, "/apis", Accept=accept)
    assert "apidiscovery.k8s.io" in answer.headers["Content-Type"]
    assert answer.json()["kind"] == "APIGroupDiscoveryList"


def test_a_list_goes_on_where_its_token_says(call, busy):
    tick(busy, 8)
    path = f"{KUEUE}/workloads"
    every = [i["metadata"]["name"] for i in call("get", busy, path).json()["items"]]
    names, token = [], ""
    while True:
        body = call("get", busy, f"{path}?limit=3&continue={token}").json()
        names += [item["metadata"]["name"] for item in body["items"]]
        token = body["metadata"].get("continue", "")
        if not token:
            break
    assert (names, body["kind"]) == (every, "WorkloadList")
    bad = call("get", busy, f"{path}?limit=3&continue=zzz")
    assert (bad.status_code, bad.json()["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("fieldSelector=metadata.name=a", 1),
        ("fieldSelector=metadata.name!=a", 1),
        ("labelSelector=tier", 1),
        ("labelSelector=tier=gold", 1),
        ("labelSelector=tier in (gold, silver)", 1),
        ("labelSelector=tier notin (gold)", 1),
        ("labelSelector=!tier", 1),
        ("labelSelector=tier!=gold,other!=x", 1),
    ],
)
def test_selectors_pick(call, busy, query, count):
    patch = {"metadata": {"labels": {"tier": "gold"}}}
    call("patch", busy, "/objects/ClusterQueue/-/a", patch)
    found = call("get", busy, f"{KUEUE}/clusterqueues?{query}").json()
    assert len(found["items"]) == count


def test_an_object_of_another_shape_than_its_kind_is_shown_as_it_is(call, make):
    odd = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "odd", "namespace": "default"},
        "spec": {"ports": "none"},
    }
    shown = call("get", make(odd), "/api/v1/namespaces/default/services/odd").json()
    assert shown["spec"]["ports"] == "none"


def test_a_broken_selector_is_reported(call, busy):
    for query in ("labelSelector=a in (", "fieldSelector=a", "labelSelector== ="):
        answer = call("get", busy, f"{KUEUE}/clusterqueues?{query}")
        assert answer.status_code == 400


def test_a_field_that_objects_are_not_selected_by_is_named(call, busy):
    query = "fieldSelector=spec.cohortName=team"
    answer = call("get", busy, f"{KUEUE}/clusterqueues?{query}")
    said = "field label not supported: spec.cohortName"
    assert (answer.status_code, said in answer.json()["message"]) == (400, True)


def test_a_table_has_the_columns_that_kubectl_prints(call, busy):
    tick(busy, 8)
    body = call("get", busy, f"{KUEUE}/workloads", Accept=TABLE).json()
    names = [column["name"] for column in body["columnDefinitions"]]
    assert names == ["Name", "Queue", "Reserved in", "Admitted", "Finished", "Age"]
    ages = [line["cells"][-1] for line in body["rows"]]
    assert max(ages) == "8s"


def test_what_is_created_twice_exists_already(call, busy):
    path = f"{KUEUE}/resourceflavors"
    assert call("post", busy, path, flavor("new")).status_code == 201
    again = call("post", busy, path, flavor("new"))
    assert (again.status_code, again.json()["reason"]) == (409, "AlreadyExists")


def test_a_dry_run_changes_nothing(call, busy):
    before = row(busy).revision
    path = f"{KUEUE}/resourceflavors?dryRun=All"
    made = call("post", busy, path, flavor("new"))
    assert (made.status_code, made.json()["metadata"]["name"]) == (201, "new")
    assert row(busy).revision == before


def test_a_stale_replace_is_a_conflict(call, busy):
    path = f"{KUEUE}/clusterqueues/a"
    old = call("get", busy, path).json()
    call("patch", busy, "/objects/ClusterQueue/-/a", {"spec": {"stopPolicy": "Hold"}})
    answer = call("put", busy, path, old)
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")


PATCHES = [
    ("merge-patch", {"spec": {"stopPolicy": "Hold"}}),
    ("json-patch", [{"op": "replace", "path": "/spec/stopPolicy", "value": "Hold"}]),
]


@pytest.mark.parametrize(("kind", "patch"), PATCHES)
def test_every_kind_of_patch_changes_the_object(client, busy, kind, patch):
    where = url(busy, f"{KUEUE}/clusterqueues/a")
    text = json.dumps(patch)
    answer = raw(client, "patch", where, text, f"application/{kind}+json")
    assert answer.json()["spec"]["stopPolicy"] == "Hold"


def test_an_old_version_is_written_and_read_in_its_own_words(call, busy):
    path = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/a"
    document = call("get", busy, path).json()
    assert (document["apiVersion"][-7:], document["spec"]["cohort"]) == (
        "v1beta1",
        "team",
    )
    document["spec"]["cohort"] = "other"
    assert call("put", busy, path, document).status_code == 200
    served = call("get", busy, f"{KUEUE}/clusterqueues/a").json()
    assert served["spec"]["cohortName"] == "other"


def test_a_body_that_disagrees_with_its_path_is_refused(call, busy):
    answer = call("put", busy, f"{KUEUE}/clusterqueues/a", cluster_queue("b"))
    assert answer.status_code == 400
    assert "(b) does not match the name on the URL (a)" in answer.json()["message"]


def test_a_body_whose_metadata_is_a_text_is_refused(call, busy):
    answer = call("put", busy, f"{KUEUE}/clusterqueues/a", {"metadata": "x"})
    assert answer.status_code == 400


def test_deleting_answers_the_object_as_it_goes_and_then_not_found(call, busy):
    path = f"{KUEUE}/clusterqueues/a"
    assert call("delete", busy, path).json()["metadata"]["deletionTimestamp"]
    gone = call("get", busy, path)
    assert gone.json()["message"] == 'clusterqueues.kueue.x-k8s.io "a" not found'


FLAVOR = f"{KUEUE}/resourceflavors"
UNDONE = [
    ({"propagationPolicy": "Sideways"}, "propagationPolicy"),
    ({"gracePeriodSeconds": "x"}, "gracePeriodSeconds"),
    ({"dryRun": ["Some"]}, "dryRun"),
    ({"dryRuns": ["All"]}, "dryRuns"),
    ({"preconditions": {"name": "x"}}, "preconditions"),
]


def flavors(call, sandbox):
    items = call("get", sandbox, FLAVOR).json()["items"]
    return [item["metadata"]["name"] for item in items]


@pytest.mark.parametrize("place", ["/default", ""])
@pytest.mark.parametrize(
    ("query", "body"),
    [("", {"dryRun": ["All"], "kind": "DeleteOptions"}), ("?dryRun=All", {})],
)
def test_a_dry_deletion_deletes_nothing(call, busy, place, query, body):
    assert call("delete", busy, f"{FLAVOR}{place}{query}", body).status_code == 200
    assert flavors(call, busy) == ["default"]


@pytest.mark.parametrize("place", ["/default", ""])
@pytest.mark.parametrize(("body", "field"), UNDONE)
def test_an_option_that_a_deletion_does_not_follow_is_refused(
    call, busy, place, body, field
):
    refused = call("delete", busy, f"{FLAVOR}{place}", body)
    assert refused.status_code == 422
    assert refused.json()["details"]["causes"][0]["field"] == field
    assert flavors(call, busy) == ["default"]


@pytest.mark.parametrize(
    "query",
    ["propagationPolicy=Never", "dryRun=Some"],
)
def test_an_option_of_the_query_is_refused_as_that_of_a_body(call, busy, query):
    assert call("delete", busy, f"{FLAVOR}/default?{query}").status_code == 422
    assert flavors(call, busy) == ["default"]


@pytest.mark.parametrize("place", ["/default", ""])
@pytest.mark.parametrize("name", ["uid", "resourceVersion"])
def test_a_precondition_that_does_not_hold_is_a_conflict(call, busy, place, name):
    body = {"preconditions": {name: "another"}}
    assert call("delete", busy, f"{FLAVOR}{place}", body).status_code == 409
    assert flavors(call, busy) == ["default"]


def test_what_a_deletion_can_follow_is_done(call, busy):
    call("post", busy, FLAVOR, flavor("spare"))
    metadata = call("get", busy, f"{FLAVOR}/spare").json()["metadata"]
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "preconditions": {name: metadata[name] for name in ("uid", "resourceVersion")},
    }
    assert call("delete", busy, f"{FLAVOR}/spare", body).status_code == 200
    assert flavors(call, busy) == ["default"]


def test_positions_count_from_zero_in_queue_order(call, busy):
    tick(busy, 8)
    path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/a/pendingworkloads"
    body = call("get", busy, path).json()
    pending = stored.workloads(busy.pk, "pending")
    waiting = [row for row in pending if row.manifest["spec"]["queueName"] == "a-queue"]
    places = [item["positionInClusterQueue"] for item in body["items"]]
    priorities = [item["priority"] for item in body["items"]]
    assert body["kind"] == "PendingWorkloadsSummary"
    assert places == list(range(len(waiting)))
    assert priorities == sorted(priorities, reverse=True)


def test_events_are_found_by_the_object_they_are_about(call, busy):
    tick(busy, 8)
    name = stored.workloads(busy.pk, "admitted")[0].name
    selector = f"involvedObject.name={name},involvedObject.kind=Workload"
    body = call("get", busy, f"/api/v1/events?fieldSelector={selector}").json()
    assert {item["involvedObject"]["name"] for item in body["items"]} == {name}
    events = "/api/v1/namespaces/default/events"
    assert call("post", busy, events, {}).status_code == 403


@pytest.mark.django_db(transaction=True)
async def test_a_watch_reports_every_change_from_its_version_on(busy, person):
    since = await asyncio.to_thread(lambda: row(busy).revision)
    path = url(busy, f"{KUEUE}/clusterqueues?watch=1&timeoutSeconds=20")
    await asyncio.to_thread(_hold, person, busy, "a")
    answer = await AsyncClient().get(f"{path}&resourceVersion={since}")
    lines = answer.streaming_content.__aiter__()
    first = json.loads(await anext(lines))
    assert first["type"] == "MODIFIED"
    assert first["object"]["spec"]["stopPolicy"] == "Hold"
    await asyncio.to_thread(_delete, person, busy, "b")
    gone = json.loads(await anext(lines))
    while gone["type"] != "DELETED":
        gone = json.loads(await anext(lines))
    assert gone["object"]["metadata"]["name"] == "b"
    await lines.aclose()


@pytest.mark.django_db(transaction=True)
async def test_a_watch_shows_changes_in_the_order_of_their_versions(busy, person):
    """Who breaks off goes on behind the version seen last; older ones would be lost."""
    since = await asyncio.to_thread(lambda: row(busy).revision)
    for name in ("b", "a"):
        await asyncio.to_thread(_hold, person, busy, name)
    path = url(busy, f"{KUEUE}/clusterqueues?watch=1&timeoutSeconds=20")
    answer = await AsyncClient().get(f"{path}&resourceVersion={since}")
    lines = answer.streaming_content.__aiter__()
    seen = [json.loads(await anext(lines))["object"]["metadata"] for _ in "ba"]
    await lines.aclose()
    assert [one["name"] for one in seen] == ["b", "a"]


@pytest.mark.django_db(transaction=True)
async def test_what_a_selector_leaves_behind_is_gone_at_the_version_of_its_change(
    busy, person
):
    for name in ("a", "b"):
        await asyncio.to_thread(_hold, person, busy, name, team="x")
    since = await asyncio.to_thread(lambda: row(busy).revision)
    await asyncio.to_thread(_hold, person, busy, "a", team="y")
    await asyncio.to_thread(_hold, person, busy, "b", team="x", more="z")
    path = url(busy, f"{KUEUE}/clusterqueues?watch=1&timeoutSeconds=20")
    answer = await AsyncClient().get(
        f"{path}&labelSelector=team%3Dx&resourceVersion={since}"
    )
    lines = answer.streaming_content.__aiter__()
    seen = [json.loads(await anext(lines)) for _ in "ab"]
    await lines.aclose()
    assert [one["type"] for one in seen] == ["DELETED", "MODIFIED"]
    versions = [int(one["object"]["metadata"]["resourceVersion"]) for one in seen]
    assert since < versions[0] < versions[1]


def _hold(person, sandbox, name, **labels):
    document = cluster_queue(name)
    document["metadata"]["labels"] = labels
    document["spec"]["stopPolicy"] = "Hold"
    actions.do_import(person, sandbox.pk, [("x", json.dumps(document))])


def _delete(person, sandbox, name):
    actions.do_delete(person, sandbox.pk, [Key("ClusterQueue", "", name)])


def test_a_watch_from_a_version_that_is_not_there_yet_is_refused(call, busy):
    answer = call("get", busy, f"{KUEUE}/workloads?watch=1&resourceVersion=99999")
    assert (answer.status_code, answer.json()["reason"]) == (504, "Timeout")
