"""What people do is kept with its code and what fills its holes."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps
from django.db import connection

from sandbox import actions
from sandbox.live.pages import event_line
from sandbox.models import Event, Revision
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def newest(sandbox) -> tuple[Event, Revision]:
    """Return the newest edit, and its revision."""
    event = Event.objects.filter(sandbox=sandbox, type="Edit").latest("revision")
    return event, Revision.objects.get(sandbox=sandbox, number=event.revision)


def test_an_edit_is_kept_with_its_code(busy, person):
    actions.do_rename(person, busy.pk, "a: cordon node b")
    event, revision = newest(busy)
    assert event.said == {
        "code": "edit.renames",
        "text": event.message,
        "holes": {"who": person.get_username(), "title": "a: cordon node b"},
    }
    assert (revision.said, revision.summary) == (event.said, event.message)
    assert event_line(event)["said"] == event.said


def test_what_undoes_an_edit_has_it_in_its_hole(busy, person):
    actions.do_add_node(person, busy.pk, "fresh", allocatable={"cpu": "4"})
    actions.do_undo(person, busy.pk)
    event, _ = newest(busy)
    assert event.said["code"] == "edit.undoes"
    assert event.said["holes"]["edit"]["code"] == "edit.addsNode"
    assert event.said["holes"]["edit"]["holes"]["node"] == "fresh"


def test_what_a_scheduler_says_has_no_code(busy):
    tick(busy, 5)
    admitted = Event.objects.filter(sandbox=busy, type="Admit").first()
    assert admitted is not None
    assert admitted.said is None
    assert "said" not in event_line(admitted)


def test_what_an_older_version_stored_in_english_is_read_once(busy, person):
    actions.do_rename(person, busy.pk, "other")
    event, revision = newest(busy)
    rows = Event.objects.filter(sandbox=busy)
    before = list(rows.order_by("pk").values_list("message", "said"))
    rows.update(said=None)
    Revision.objects.filter(sandbox=busy).update(said=None)
    migration = importlib.import_module("sandbox.migrations.0026_said")
    with connection.schema_editor() as editor:
        migration.read_texts(apps, editor)
    assert list(rows.order_by("pk").values_list("message", "said")) == before
    again = newest(busy)
    assert (again[0].said, again[1].said) == (event.said, revision.said)
