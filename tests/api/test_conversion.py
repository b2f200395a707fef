"""A sandbox under the other stack: a new one, with what was lost by name."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.models import Sandbox
from tests import stored
from tests.builders import node, pod, queue_tree
from tests.sandbox.conftest import check_rows, contended, row, tick

pytestmark = pytest.mark.django_db

NODES = [node("n1", cpu=8), node("n2", cpu=8)]
TREE = queue_tree(
    {
        "name": "team",
        "properties": {"preemption.policy": "fence"},
        "queues": [{"name": "a", "resources": {"guaranteed": {"vcore": "4"}}}],
    }
)


def placed(sandbox_id: str) -> int:
    return sum(map(bool, stored.places(sandbox_id).values()))


def test_kueue_becomes_yunikorn_in_a_new_sandbox(call, make, person):
    sandbox = make(*contended(), *NODES)
    before = row(sandbox)
    answer = call("post", sandbox, "/actions/convert", {"stack": "yunikorn"})
    assert answer.status_code == 201
    body = answer.json()
    assert body["id"] != sandbox.pk
    assert body["stack"] == "yunikorn"
    assert {"subject", "lost", "said"} == set(body["losses"][0])
    made = Sandbox.objects.get(pk=body["id"])
    actions.do_play(person, made.pk)
    tick(made, 8)
    assert placed(made.pk) > 0
    check_rows(made)
    assert row(sandbox).hash == before.hash


def test_yunikorn_becomes_kueue_in_a_new_sandbox(call, make, person):
    labels = {"applicationId": "app", "queue": "root.team.a"}
    policy = {"stack": "yunikorn", "yunikorn": {"queues": TREE}}
    sandbox = make(*NODES, pod("p", labels=labels, runtime="60s"), policy=policy)
    body = call("post", sandbox, "/actions/convert", {"stack": "kueue"}).json()
    made = Sandbox.objects.get(pk=body["id"])
    assert made.stack == "kueue"
    assert any("fence" in loss["lost"] for loss in body["losses"])
    actions.do_play(person, made.pk)
    tick(made, 3)
    assert placed(made.pk) == 1
    check_rows(made)


def test_a_sandbox_that_ran_converts_and_begins_anew(call, busy):
    tick(busy, 6)
    body = call("post", busy, "/actions/convert", {"stack": "yunikorn"}).json()
    assert body["tick"] == 0


def test_its_own_stack_is_no_other_one(call, make):
    answer = call("post", make(), "/actions/convert", {"stack": "kueue"})
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")


def test_the_schema_lists_the_conversion(client):
    schema = client.get("/api/v1/schema?format=json").json()
    path = schema["paths"]["/api/v1/sandboxes/{sandbox_id}/actions/convert"]
    assert "201" in path["post"]["responses"]
