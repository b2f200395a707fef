"""What people do is kept with its code and what fills its holes."""

from __future__ import annotations

import pytest

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
