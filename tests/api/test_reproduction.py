"""A decision of a sandbox, reproduced in the smallest world that still shows it."""

from __future__ import annotations

import pytest
import yaml

from sandbox import actions
from sandbox.models import Event
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def event(busy) -> Event:
    tick(busy, 12)
    return Event.objects.filter(sandbox=busy, type="Preempt").first()


def path(event: Event) -> str:
    return f"/events/{event.revision}.{event.seq}/reproduction"


def test_a_preemption_is_reproduced_with_few_objects(call, busy, event):
    found = call("get", busy, path(event)).json()
    assert found["found"]
    assert 0 < found["after"] < found["before"]
    assert event.subject in found["decision"]
    assert found["documents"][0]["kind"] == "Scenario"


def test_its_yaml_is_a_sandbox_that_shows_it_again(call, client, busy, event, person):
    answer = call("get", busy, path(event), Accept="application/yaml")
    documents = list(yaml.safe_load_all(answer.content))
    wanted = documents[0]["spec"]["expect"][0]["event"]
    url = "/api/v1/sandboxes"
    made = client.post(url, answer.content, content_type="application/yaml").json()
    actions.do_play(person, made["id"])
    sandbox = type(busy).objects.get(pk=made["id"])
    tick(sandbox, 2)
    again = Event.objects.filter(sandbox=sandbox, type="Preempt")
    assert [(e.subject, e.by) for e in again] == [(wanted["subject"], wanted["by"])]


def test_what_a_person_did_is_no_decision(call, busy):
    call("patch", busy, "/objects/ClusterQueue/-/a", {"spec": {"stopPolicy": "Hold"}})
    edit = Event.objects.filter(sandbox=busy, type="Edit").first()
    answer = call("get", busy, path(edit))
    assert answer.status_code == 422


@pytest.mark.parametrize("place", ["999.0", "x.y", "1", "9" * 30 + ".1"])
def test_an_event_that_is_not_there_is_not_found(call, busy, place):
    assert call("get", busy, f"/events/{place}/reproduction").status_code == 404
