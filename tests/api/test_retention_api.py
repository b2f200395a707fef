"""Room and history over HTTP: how much is kept, what it takes, put away and back."""

from __future__ import annotations

import pytest

from sandbox.retention import archives
from sandbox.worker import tasks
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]


def test_what_is_kept_is_set_and_reported(call, busy, client):
    answer = client.patch(
        f"/api/v1/sandboxes/{busy.pk}",
        {"keepTicks": 10},
        content_type="application/json",
    )
    body = answer.json()
    assert (answer.status_code, body["keepTicks"], body["keepDays"]) == (200, 10, 0)


def test_a_tick_that_was_let_go_is_expired(call, busy, client):
    tick(busy, 70)
    client.patch(
        f"/api/v1/sandboxes/{busy.pk}",
        {"keepTicks": 5},
        content_type="application/json",
    )
    tasks.tidy()
    first = row(busy).kept_tick
    assert call("get", busy, "").json()["firstTick"] == first > 0
    answer = call("get", busy, f"/state?tick={first - 1}")
    assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")
    assert f"begins at tick {first}" in answer.json()["message"]
    assert call("get", busy, f"/state?tick={first}").status_code == 200


def test_room_is_reported_for_one_and_for_all(call, busy, client):
    one = call("get", busy, "/disk").json()
    every = client.get("/api/v1/disk").json()
    assert one["bytes"] == sum(one["parts"].values()) == every["bytes"]
    assert [item["id"] for item in every["items"]] == [busy.pk]
    assert every["database"]["bytes"] > 0


def test_a_sandbox_is_put_away_and_opened_again(call, busy, client):
    tick(busy, 3)
    before = row(busy).hash
    assert call("post", busy, "/actions/archive").json()["archived"] is True
    for path in ("/state", "/events", "/apis/batch/v1/jobs", "/tables/workloads"):
        answer = call("get", busy, path)
        assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")
    listed = client.get("/api/v1/sandboxes").json()["items"]
    assert [item["archived"] for item in listed] == [True]
    assert call("get", busy, "/archive").content.startswith(archives.MAGIC)
    assert call("post", busy, "/actions/unarchive").json()["hash"] == before
    assert call("get", busy, "/state").status_code == 200


def test_an_archived_sandbox_is_deleted_like_any(call, busy):
    call("post", busy, "/actions/archive")
    assert call("delete", busy, "").status_code == 204
