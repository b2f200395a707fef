"""A gang that reserves, as clients of the Kubernetes-shaped API see it."""

from __future__ import annotations

import json

import pytest

from sandbox import actions
from tests.builders import job, node, queue_tree
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]

PODS = "/api/v1/namespaces/default/pods"
DOMAIN = "yunikorn.apache.org"
GROUPS = [{"name": "g", "minMember": 3, "minResource": {"cpu": "1"}}]
CONTAINER = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "labels": {"applicationId": "gang", "queue": "root.q"},
        "annotations": {
            f"{DOMAIN}/task-groups": json.dumps(GROUPS),
            f"{DOMAIN}/task-group-name": "g",
        },
    },
    "spec": {"containers": [CONTAINER]},
}


@pytest.fixture
def ask(call, person):
    """Return a function that asks a sandbox where two of three placeholders fit."""
    spec = {"stack": "yunikorn", "yunikorn": {"queues": queue_tree({"name": "q"})}}
    files = [("node.json", json.dumps(node("n", cpu=2)))]
    made = actions.do_create(person, files=files, policy=spec).sandbox
    assert call("post", made, PODS, POD).status_code == 201
    actions.do_play(person, made.pk)
    tick(made, 4)
    return lambda path, method="get": call(method, made, path)


def test_placeholders_are_listed_among_the_pods(ask):
    names = [one["metadata"]["name"] for one in ask(PODS).json()["items"]]
    assert names == ["p", "tg-gang-g-0", "tg-gang-g-1", "tg-gang-g-2"]


def test_a_selector_picks_placeholders(ask):
    found = ask(f"{PODS}?labelSelector={DOMAIN}/app-id=gang").json()["items"]
    assert len(found) == 3


def test_a_placeholder_is_read_by_its_name_and_belongs_to_the_first_pod(ask):
    found = ask(f"{PODS}/tg-gang-g-0").json()
    (owner,) = found["metadata"]["ownerReferences"]
    assert owner["uid"] == ask(f"{PODS}/p").json()["metadata"]["uid"]
    assert found["spec"]["nodeName"] == "n"


def test_placeholders_of_another_namespace_are_not_listed(ask):
    assert ask("/api/v1/namespaces/other/pods").json()["items"] == []


def test_all_pods_can_be_deleted_while_placeholders_are_there(ask):
    assert ask(PODS, "delete").status_code == 200
    assert ask(PODS).json()["items"] == []


def test_pods_that_wait_for_their_gang_are_no_requests_yet(ask):
    (app,) = ask("/ws/v1/partition/default/applications/active").json()
    (waiting,) = app["requests"]
    assert waiting["allocationKey"] == "tg-gang-g-2"
    assert app["pendingResource"] == {"pods": 1, "vcore": 1000}


def test_a_job_that_is_deleted_takes_its_refused_pods_along(call, person):
    spec = {"stack": "yunikorn", "yunikorn": {"queues": queue_tree({"name": "q"})}}
    refused = job("j")
    template = refused["spec"]["template"]
    template["metadata"] = {"labels": {"queue": "root.none"}}
    files = [("all.json", json.dumps(one)) for one in (node("n", cpu=2), refused)]
    made = actions.do_create(person, files=files, policy=spec).sandbox
    actions.do_play(person, made.pk)
    tick(made, 3)
    phases = [one["status"]["phase"] for one in call("get", made, PODS).json()["items"]]
    assert phases == ["Failed"]
    path = "/apis/batch/v1/namespaces/default/jobs/j"
    body = {"propagationPolicy": "Background"}
    assert call("delete", made, path, body).status_code == 200
    assert call("get", made, PODS).json()["items"] == []
