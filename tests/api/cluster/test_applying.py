"""Server-side apply: who holds which field."""

from __future__ import annotations

import json

MAPS = "/api/v1/namespaces/default/configmaps"


def config(**data: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": data,
    }


def apply(client, sandbox, manager, document, query=""):
    url = f"/api/v1/sandboxes/{sandbox.pk}{MAPS}/a?fieldManager={manager}{query}"
    media = "application/apply-patch+yaml"
    return client.patch(url, json.dumps(document), content_type=media)


def test_a_field_that_another_manager_holds_is_a_conflict(client, busy):
    assert apply(client, busy, "one", config(x="1")).status_code == 201
    answer = apply(client, busy, "two", config(x="2")).json()
    assert (answer["code"], answer["reason"]) == (409, "Conflict")
    (cause,) = answer["details"]["causes"]
    assert (cause["field"], cause["message"]) == (".data.x", 'conflict with "one"')


def test_force_takes_a_field_and_its_former_manager_loses_it(client, busy):
    apply(client, busy, "one", config(x="1"))
    made = apply(client, busy, "two", config(x="2"), "&force=true").json()
    assert made["data"] == {"x": "2"}
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == ["two"]


def test_a_field_that_is_no_longer_applied_is_taken_away(client, busy):
    apply(client, busy, "one", config(x="1", y="1"))
    apply(client, busy, "two", config(x="1"))
    left = apply(client, busy, "one", config(z="1")).json()
    assert left["data"] == {"x": "1", "z": "1"}


def test_what_is_applied_again_changes_nothing(client, busy):
    first = apply(client, busy, "one", config(x="1")).json()
    assert apply(client, busy, "one", config(x="1")).json() == first


def test_an_update_takes_the_fields_that_it_changes(client, call, busy):
    apply(client, busy, "one", config(x="1", y="1"))
    call("patch", busy, f"{MAPS}/a?fieldManager=two", {"data": {"x": "2"}})
    entries = call("get", busy, f"{MAPS}/a").json()["metadata"]["managedFields"]
    held = {entry["manager"]: entry["fieldsV1"]["f:data"] for entry in entries}
    assert held == {"one": {"f:y": {}}, "two": {"f:x": {}}}
