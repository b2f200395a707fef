"""Undo and redo by a worker: how far they are, stopped, and done once whoever is lost."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.answers import asking
from sandbox.answers.work import WORK, execute, take, tell, work_of
from sandbox.base.database_time import database_seconds
from sandbox.base.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    OvertakenError,
)
from sandbox.models import Member, Question, Revision, Sandbox
from scheduler.model.objects import Key
from tests.sandbox.conftest import check_rows, row, tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def edited(busy, person):
    """A sandbox in which a Job was deleted three ticks ago."""
    tick(busy, 3)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-00")])
    tick(busy, 3)
    return row(busy)


def asked(sandbox, user) -> Question:
    edit = actions.to_take_back(user, sandbox, redo=False)
    since = sandbox.revision
    return asking.ask("undo", [sandbox], user, user=user.pk, edit=edit, since=since)


def reruns(sandbox) -> int:
    return Revision.objects.filter(sandbox=sandbox, base__isnull=False).count()


def test_who_undoes_is_told_where_to_ask_until_a_worker_has_done_it(
    edited, person, settings
):
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    client = APIClient()
    client.force_authenticate(person)
    told = client.post(f"/api/v1/sandboxes/{edited.pk}/actions/undo")
    assert (told.status_code, reruns(edited)) == (202, 0)
    assert WORK.work(1.0) == 1
    done = client.get(told.json()["place"])
    assert done.json() == {"revision": row(edited).revision, "tick": edited.tick}
    check_rows(edited)


def test_an_undo_says_how_far_it_is(edited, person):
    told: list[dict[str, int]] = []
    question = asked(edited, person)
    work_of("undo", told.append)(edited, **question.arguments)
    assert told == [{"done": n, "of": 3} for n in range(3)]


def test_a_stopped_undo_changes_nothing(edited, person):
    question = asked(edited, person)
    claim = take(question.pk)

    def stopping(so_far):
        asking.stop(question.pk, person)
        tell(claim, so_far)

    with pytest.raises(OvertakenError):
        work_of("undo", stopping)(edited, **question.arguments)
    assert (row(edited).revision, row(edited).hash) == (edited.revision, edited.hash)
    assert not execute(claim)
    check_rows(edited)


def test_nobody_stops_what_another_asked_for(edited, person, stranger):
    question = asked(edited, person)
    with pytest.raises(NotFoundError):
        asking.stop(question.pk, stranger)
    assert Question.objects.filter(pk=question.pk).exists()


def test_an_undo_whose_worker_was_lost_after_its_commit_is_done_once(edited, person):
    earlier = Key("Job", "default", "job-01")
    actions.do_delete(person, edited.pk, [earlier])
    edited = row(edited)
    question = asked(edited, person)
    assert take(question.pk) is not None
    work_of("undo", lambda _: None)(edited, **question.arguments)
    committed = row(edited)
    Question.objects.update(lease_until=0)
    answer = asking.result(question)
    assert answer == {"revision": committed.revision, "tick": committed.tick}
    assert (row(edited).revision, reruns(edited)) == (committed.revision, 1)


def test_an_undo_takes_back_no_edit_but_the_one_it_was_asked_for(edited, person):
    question = asked(edited, person)
    actions.do_delete(person, edited.pk, [Key("Job", "default", "job-01")])
    with pytest.raises(ConflictError, match="edited since"):
        asking.result(question)
    assert reruns(edited) == 0


def test_an_undo_that_was_refused_can_be_asked_for_again(edited, person):
    question = asked(edited, person)
    Question.objects.filter(pk=question.pk).update(state=Question.DONE)
    assert asked(edited, person).pk != question.pk


def test_what_an_editor_goes_back_from_is_theirs_and_the_owner_may_edit_it(
    edited, person, stranger, settings
):
    Member.objects.create(sandbox=edited, user=stranger, role=Member.EDITOR)
    settings.LIMITS = {**settings.LIMITS, "sandboxes_per_user": 1}
    _, kept = actions.do_rewind(stranger, edited.pk, tick=2)
    assert kept.owner == stranger
    assert Sandbox.objects.editable_by(person).filter(pk=kept.pk).exists()
    with pytest.raises(ForbiddenError, match="as many as allowed"):
        actions.do_rewind(stranger, edited.pk, tick=1)
    assert row(edited).tick == 2


def test_an_edit_is_made_while_an_undo_runs_and_the_undo_says_so(edited, person):
    question = asked(edited, person)

    def meanwhile(_):
        if not reruns(edited) and row(edited).revision == edited.revision:
            actions.do_delete(person, edited.pk, [Key("Job", "default", "job-01")])

    with pytest.raises(ConflictError, match="edited since"):
        work_of("undo", meanwhile)(edited, **question.arguments)
    assert (row(edited).revision, reruns(edited)) == (edited.revision + 1, 0)
    check_rows(edited)


def test_an_undo_begins_again_when_the_speed_was_changed_meanwhile(edited, person):
    question = asked(edited, person)
    told = []

    def once(so_far):
        if not told:
            actions.do_speed(person, edited.pk, 5)
        told.append(so_far)

    work_of("undo", once)(edited, **question.arguments)
    assert len(told) == 6
    assert (row(edited).speed, reruns(edited)) == (5, 1)
    check_rows(edited)


def test_an_undo_that_never_has_time_changes_nothing_and_says_so(edited, person):
    speeds = iter(range(2, 100))
    with pytest.raises(ConflictError, match="3 times meanwhile"):
        actions.do_undo(
            person,
            edited.pk,
            progress=lambda *_: actions.do_speed(person, edited.pk, next(speeds)),
        )
    assert (row(edited).tick, row(edited).hash) == (edited.tick, edited.hash)
    check_rows(edited)


def test_ticks_keep_out_of_the_way_of_an_undo_that_runs(edited, person):
    waited = []

    def look(*_):
        waited.append(row(edited).waiting_until > database_seconds())

    actions.do_undo(person, edited.pk, progress=look)
    assert waited == [True] * 3
    assert row(edited).waiting_until == 0
