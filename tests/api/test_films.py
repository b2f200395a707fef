"""Films over HTTP."""

from __future__ import annotations

import pytest

from sandbox.models import Event
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def preempted(busy):
    tick(busy, 15)
    return Event.objects.filter(sandbox=busy, type="Preempt").first()


def test_a_preemption_is_a_film_of_its_preemptor(call, busy, preempted):
    path = f"/events/{preempted.revision}.{preempted.seq}/film"
    body = call("get", busy, path).json()
    assert body["subject"] == preempted.by
    assert preempted.subject in body["frames"][-1]["moves"]


def test_the_other_strategy_is_another_law(call, busy, preempted):
    path = f"/events/{preempted.revision}.{preempted.seq}/film"
    laws = {
        call("get", busy, f"{path}{query}").json()["law"] for query in ("", "?other=1")
    }
    assert len(laws) == 2


def test_what_a_person_did_is_no_film(call, busy):
    event = Event.objects.filter(sandbox=busy).exclude(type="Admit").first()
    answer = call("get", busy, f"/events/{event.revision}.{event.seq}/film")
    assert answer.status_code == 422
    assert "is no film" in answer.json()["message"]


def test_who_waits_is_a_film_as_it_would_be_tried(call, busy):
    tick(busy, 8)
    rows = call("get", busy, "/tables/workloads?phase=pending").json()["items"]
    name = rows[0]["key"].rpartition("/")[2]
    body = call("get", busy, f"/explain/default/{name}/film").json()
    assert body["frames"][-1]["kind"] == "verdict"
