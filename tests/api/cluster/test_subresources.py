"""Eviction, binding and scale; events as they happen."""

from __future__ import annotations

import json

import pytest
from django.test import AsyncClient

from sandbox.models import Pod
from tests import stored
from tests.builders import node, pod
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def placed(make, person):
    """Two pods of one label on one node."""
    from sandbox import actions

    pods = [pod(f"p{n}", cpu=1) for n in range(2)]
    for one in pods:
        one["metadata"]["labels"] = {"app": "db"}
    sandbox = make(node("n1", cpu=4), *pods, policy={"stack": "kube"})
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 2)
    assert list(stored.places(sandbox.pk).values()).count("n1") == 2
    return sandbox


def budget(minimum: int) -> dict:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "minAvailable": minimum,
            "selector": {"matchLabels": {"app": "db"}},
        },
    }


def test_an_evicted_pod_is_gone(call, placed):
    assert call("post", placed, f"{PODS}/p0/eviction", {}).status_code == 201
    assert call("get", placed, f"{PODS}/p0").status_code == 404


@pytest.mark.parametrize(("minimum", "code"), [(1, 201), (2, 429)])
def test_a_budget_says_how_many_may_go(call, placed, minimum, code):
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    call("post", placed, budgets, budget(minimum))
    answer = call("post", placed, f"{PODS}/p0/eviction", {})
    assert answer.status_code == code
    if code == 429:
        assert answer.json()["reason"] == "TooManyRequests"
        assert "needs its 2 healthy pods" in answer.content.decode()


def test_a_dry_eviction_evicts_nobody(call, placed):
    before = row(placed).revision
    body = {"deleteOptions": {"dryRun": ["All"]}}
    assert call("post", placed, f"{PODS}/p0/eviction", body).status_code == 201
    assert row(placed).revision == before


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"gracePeriodSeconds": "x"}, "deleteOptions.gracePeriodSeconds"),
        ({"propagationPolicy": "Never"}, "deleteOptions.propagationPolicy"),
        ({"dry": True}, "deleteOptions.dry"),
    ],
)
def test_an_option_that_an_eviction_does_not_follow_is_refused(
    call, placed, options, field
):
    body = {"deleteOptions": options}
    refused = call("post", placed, f"{PODS}/p0/eviction", body)
    assert refused.json()["details"]["causes"][0]["field"] == field
    assert call("get", placed, f"{PODS}/p0").status_code == 200


def test_an_eviction_of_another_pod_of_that_name_is_a_conflict(call, placed):
    body = {"deleteOptions": {"preconditions": {"uid": "another"}}}
    assert call("post", placed, f"{PODS}/p0/eviction", body).status_code == 409
    assert call("get", placed, f"{PODS}/p0").status_code == 200


def test_an_eviction_whose_metadata_is_a_text_names_nobody_else(call, placed):
    answer = call("post", placed, f"{PODS}/p0/eviction", {"metadata": "x"})
    assert answer.status_code in (201, 400)


def test_a_dry_eviction_in_the_binary_encoding_evicts_nobody(client, placed):
    def part(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    kind = part(1, b"policy/v1") + part(2, b"Eviction")
    options = part(5, b"All")
    body = b"k8s\x00" + part(1, kind) + part(2, part(2, options))
    answer = client.generic(
        "POST",
        f"/api/v1/sandboxes/{placed.pk}{PODS}/p0/eviction",
        body,
        content_type="application/vnd.kubernetes.protobuf",
    )
    assert answer.status_code == 201, answer.content
    assert Pod.objects.filter(sandbox=placed, name="p0").exists()


def test_a_binding_places_a_pod_that_waits_and_no_other(call, make):
    waiting = pod("lone", cpu=1)
    waiting["spec"]["schedulerName"] = "outside"
    sandbox = make(node("n1", cpu=4), waiting, policy={"stack": "kube"})
    body = {"target": {"kind": "Node", "name": "n1"}}
    assert call("post", sandbox, f"{PODS}/lone/binding", body).status_code == 201
    assert call("get", sandbox, f"{PODS}/lone").json()["spec"]["nodeName"] == "n1"
    again = call("post", sandbox, f"{PODS}/lone/binding", body)
    assert (again.status_code, again.json()["reason"]) == (409, "Conflict")
    nowhere = {"target": {"name": "n2"}}
    assert call("post", sandbox, f"{PODS}/lone/binding", nowhere).status_code == 404
    assert call("post", sandbox, f"{PODS}/lone/binding", {}).status_code == 422


def test_what_has_replicas_is_scaled(call, make):
    sandbox = make(node("n1", cpu=4))
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    path = "/apis/apps/v1/namespaces/default/deployments"
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }
    call("post", sandbox, path, deployment)
    assert call("get", sandbox, f"{path}/web/scale").json()["spec"] == {"replicas": 2}
    patch = {"spec": {"replicas": 5}}
    scaled = call("patch", sandbox, f"{path}/web/scale", patch).json()
    assert (scaled["kind"], scaled["spec"]) == ("Scale", {"replicas": 5})
    assert call("get", sandbox, f"{path}/web").json()["spec"]["replicas"] == 5
    wrong = call("put", sandbox, f"{path}/web/scale", {"spec": {"replicas": -1}})
    assert wrong.status_code == 422


def test_discovery_names_the_subresources(call, placed):
    lines = call("get", placed, "/api/v1").json()["resources"]
    names = {line["name"]: line for line in lines}
    assert names["pods/eviction"]["kind"] == "Eviction"
    assert names["pods/eviction"]["group"] == "policy"
    assert "pods/binding" in names
    assert "all" in names["pods"]["categories"]


@pytest.mark.django_db(transaction=True)
async def test_events_are_watched_from_a_version_on(placed):
    url = f"/api/v1/sandboxes/{placed.pk}/api/v1/events?watch=1&timeoutSeconds=20"
    answer = await AsyncClient().get(f"{url}&resourceVersion=1")
    lines = answer.streaming_content.__aiter__()
    first = json.loads(await anext(lines))
    assert (first["type"], first["object"]["kind"]) == ("ADDED", "Event")
    assert int(first["object"]["metadata"]["resourceVersion"]) > 1
    await lines.aclose()


def test_the_log_of_a_pod_is_refused_with_why_and_empty_before_it_has_a_node(
    call, placed, make
):
    answer = call("get", placed, f"{PODS}/p0/log")
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert "pod default/p0 is simulated" in answer.json()["message"]
    assert call("get", placed, f"{PODS}/none/log").status_code == 404
    waiting = call("get", make(pod("p0")), f"{PODS}/p0/log")
    assert (waiting.status_code, waiting.content) == (204, b"")


@pytest.mark.parametrize("what", ["attach", "exec", "portforward"])
def test_nobody_goes_into_a_simulated_pod(call, placed, make, what):
    refused = call("post", placed, f"{PODS}/p0/{what}?command=ls").json()
    assert (refused["code"], refused["reason"]) == (400, "BadRequest")
    waiting = call("post", make(pod("p0")), f"{PODS}/p0/{what}").json()
    assert waiting["message"] == "pod p0 does not have a host assigned"
