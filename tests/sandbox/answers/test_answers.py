"""Questions that workers work out: once for all who ask, each in its turn, errors as data."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.answers import asking
from sandbox.answers.work import (
    MOST_TRIES,
    WORK,
    document_of,
    end,
    end_lapsed,
    raise_again,
    take,
    tell,
)
from sandbox.base import errors as base
from sandbox.base.errors import (
    Cause,
    GivenUpError,
    NotFoundError,
    NotYetError,
    SandboxError,
    TooManyError,
)
from sandbox.models import Question
from sandbox.process.celery import ANSWERS
from sandbox.worker.pool import WorkerPool
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import plain

pytestmark = pytest.mark.django_db

#: Errors that a message and causes make; others have a number of their own.
PLAIN = [
    kind
    for _, kind in inspect.getmembers(base, inspect.isclass)
    if issubclass(kind, SandboxError) and kind.__init__ is SandboxError.__init__
]
TEXTS = st.text(max_size=40)


@pytest.fixture
def by_workers(settings):
    """Leave questions to workers; who asks does not wait."""
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0


def missing(sandbox, user, number: int = 0) -> Question:
    """Ask what would let a Workload in that does not exist."""
    return asking.ask(
        "counterfactuals",
        [sandbox],
        user,
        workload=f"Workload/default/none-{number}",
        tick=None,
        horizon_ms=1000,
        limit=1,
    )


def lose_worker(question: Question) -> None:
    """Take a question up as a worker does, which then is lost."""
    assert take(question.pk) is not None
    Question.objects.update(lease_until=0)


def test_the_same_question_of_one_revision_is_one_row(busy, person, stranger):
    assert missing(busy, person).pk == missing(busy, stranger).pk


def test_a_question_of_a_later_revision_is_another(busy, person):
    first = missing(busy, person)
    busy.revision += 1
    assert missing(busy, person).pk != first.pk


def test_an_answer_is_kept_and_not_worked_out_again(busy, person):
    asked = {"to_tick": None, "points": 10}
    found = asking.answered("compare", [busy, busy], person, **asked)
    assert asking.answered("compare", [busy, busy], person, **asked) == found
    assert Question.objects.get().fence == 1


def test_an_error_of_the_work_is_raised_where_it_was_asked(busy, person):
    with pytest.raises(NotFoundError, match="none-0"):
        asking.result(missing(busy, person))


def test_who_waits_too_long_is_told_where_to_ask_again(busy, person, by_workers):
    question = missing(busy, person)
    with pytest.raises(NotYetError) as told:
        asking.result(question)
    assert told.value.question == question.pk


def test_an_answer_is_there_for_whoever_may_see_its_sandboxes(busy, person, stranger):
    question = missing(busy, person)
    assert asking.find(question.pk, person) == question
    with pytest.raises(NotFoundError):
        asking.find(question.pk, stranger)


def test_a_question_that_cost_two_workers_fails_with_a_sentence(busy, person):
    question = missing(busy, person)
    for _ in range(MOST_TRIES):
        lose_worker(question)
    with pytest.raises(GivenUpError, match="its worker was lost"):
        asking.result(question)


def test_one_that_lost_a_worker_once_is_worked_out(busy, person):
    question = missing(busy, person)
    lose_worker(question)
    assert WORK.work(1.0, question.pk) == 1


def test_who_lost_a_question_writes_no_answer(busy, person):
    question = missing(busy, person)
    late = take(question.pk)
    assert late is not None
    Question.objects.update(lease_until=0)
    assert take(question.pk) is not None
    assert not end(late, answer=1)


def test_who_has_nothing_under_way_comes_first(busy, person, stranger, by_workers):
    for number in range(3):
        missing(busy, person, number)
    other = missing(busy, stranger, 9)
    assert take() is not None
    found = take()
    assert found is not None
    assert found.question_id == other.pk


def test_one_person_has_no_more_under_way_than_allowed(busy, person, settings):
    settings.LIMITS = {**settings.LIMITS, "answers_at_once_per_user": 2}
    for number in range(3):
        missing(busy, person, number)
    assert [take() is None for _ in range(3)] == [False, False, True]


def test_one_question_too_many_is_refused(busy, person, settings, monkeypatch):
    settings.LIMITS = {**settings.LIMITS, "answers_per_user": 1}
    monkeypatch.setattr(asking, "PATIENCE_S", 0)
    missing(busy, person)
    with pytest.raises(TooManyError):
        missing(busy, person, 1)


def test_what_nobody_asks_for_any_more_is_forgotten(busy, person):
    missing(busy, person)
    Question.objects.update(wanted_until=0)
    end_lapsed()
    assert not Question.objects.exists()


@given(kind=st.sampled_from(PLAIN), message=TEXTS, field=TEXTS)
def test_every_error_comes_back_as_it_was(kind, message, field):
    error = kind(message, causes=[Cause(problem=plain(message), field=field)])
    with pytest.raises(kind) as again:
        raise_again(document_of(error))
    assert (again.value.message, again.value.causes) == (message, error.causes)


@given(message=TEXTS)
def test_a_refusal_of_the_engine_comes_back_as_it_was(message):
    with pytest.raises(SchedulerError) as again:
        raise_again(document_of(SchedulerError(message)))
    assert str(again.value) == message


def test_neither_ticks_nor_runs_are_before_an_answer():
    pool = WorkerPool(2, answering=1)
    assert [pool.queues_of(place) for place in range(3)] == [
        ["celery", "ticks", "lessons"],
        ["celery", "ticks", "lessons", "experiments"],
        ["answers"],
    ]


def test_a_worker_without_a_process_for_answers_works_them_out_beside_ticks():
    assert "answers" in WorkerPool(1).queues_of(0)


def test_who_does_not_wait_calls_a_worker_all_the_same(
    busy, person, by_workers, valkey
):
    with pytest.raises(NotYetError):
        asking.result(missing(busy, person), wait_s=0)
    assert valkey.client().llen(ANSWERS) == 1


def test_who_asks_again_is_told_what_is_known_so_far(busy, person, by_workers):
    question = missing(busy, person)
    claim = take(question.pk)
    assert claim is not None
    tell(claim, {"verdicts": ["a"]})
    with pytest.raises(NotYetError) as told:
        asking.result(question, wait_s=0)
    assert told.value.so_far == {"verdicts": ["a"]}
