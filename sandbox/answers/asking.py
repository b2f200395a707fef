"""A question is asked: the answer that is kept, or one that a worker is called for.

The same question of the same revisions is one row, whoever asks. A web process waits
for it, and hands back its number when that takes longer than `ANSWER_WAIT_S`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from sandbox.answers.work import ACTS, WORK, end_lapsed, raise_again
from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.base.errors import NotFoundError, NotYetError, TooManyError
from sandbox.base.refusals import Absent, Denied
from sandbox.models import Question, Sandbox
from sandbox.models.fields import encode_json
from sandbox.process import connections, watchdog

#: A question that nobody looks after for so long is forgotten, with its answer.
WANTED_S = 60.0
#: One question too many waits so long for others to end; then it may be asked again.
PATIENCE_S = 5.0
_ASK_AGAIN_S = 1.0
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.004, 0.05
#: Who waits calls again when no worker has begun for so long.
_CALL_AGAIN_S = 0.5


def answered(
    kind: str,
    sandboxes: Sequence[Sandbox],
    user: User,
    /,
    *,
    wait_s: float | None = None,
    **arguments: Any,
) -> Any:
    """Return the answer to a question, computed once for all requests that ask it.

    `arguments` are plain data. Raises what working it out raises, NotYetError when that
    takes longer than `wait_s`, and TooManyError when as many of the user's
    questions, or of all, are open as may be.
    """
    return result(ask(kind, sandboxes, user, **arguments), wait_s=wait_s)


def ask(
    kind: str, sandboxes: Sequence[Sandbox], user: User, /, **arguments: Any
) -> Question:
    """Return the row of a question: the one that is there, or a new one. Raises TooManyError."""
    asked: list[Any] = [kind, [(one.pk, one.revision) for one in sandboxes], arguments]
    if not sandboxes:
        asked.append(user.pk)
    digest = hashlib.sha256(encode_json(asked)).hexdigest()
    same = Question.objects.filter(asked=digest).defer("arguments", "answer")
    if (found := same.first()) is not None and not _is_spent(found):
        want(found)
        return found
    end_lapsed()
    # Wait while as many questions are open as may be; TooManyError when that lasts.
    end = time.monotonic() + PATIENCE_S
    while _is_full(user):
        if time.monotonic() >= end:
            raise TooManyError(Denied.ANSWERS.said(), wait=_ASK_AGAIN_S)
        connections.sleep(_LONGEST_LOOK_S)
    question = Question(
        asked=digest,
        asked_by=user,
        kind=kind,
        sandboxes=[one.pk for one in sandboxes],
        arguments=arguments,
        wanted_until=database_seconds() + WANTED_S,
    )
    try:
        with transaction.atomic():
            question.save()
    except IntegrityError:  # somebody asked the same just now
        return ask(kind, sandboxes, user, **arguments)
    return question


def _is_spent(question: Question) -> bool:
    """Return whether it was done once and for all; then its row is gone."""
    if question.kind not in ACTS or question.state != Question.DONE:
        return False
    question.delete()
    return True


def stop(question_id: int, user: User) -> None:
    """Stop the work on a question of the user's own; an edit that it makes is not made.

    Raises NotFoundError for one of somebody else, and one that has ended.
    """
    mine = Question.objects.filter(pk=question_id, asked_by=user)
    gone, _ = mine.filter(state=Question.RUNNING).delete()
    if not gone:
        raise NotFoundError(Absent.ANSWER.said(answer=question_id))


def find(question_id: int, user: User) -> Question:
    """Return a question whose sandboxes the user may see; else NotFoundError.

    One that is about no sandbox is there for whoever asked it.
    """
    found = Question.objects.defer("arguments", "answer").filter(pk=question_id).first()
    if found is None or not _may_see(found, user):
        raise NotFoundError(Absent.ANSWER.said(answer=question_id))
    want(found)
    return found


def _may_see(question: Question, user: User) -> bool:
    if not question.sandboxes:
        return question.asked_by_id == user.pk
    seen = Sandbox.objects.visible_to(user).filter(pk__in=question.sandboxes)
    return seen.count() == len(set(question.sandboxes))


def want(question: Question) -> None:
    """Keep a question, or its answer, for longer."""
    until = DatabaseTime() + WANTED_S
    # Who waits asks often; once in a while is enough to write.
    lapsing = Question.objects.filter(pk=question.pk, wanted_until__lt=until - 10)
    lapsing.update(wanted_until=until)


def result(question: Question, *, wait_s: float | None = None) -> Any:
    """Return the answer, waiting for `wait_s`, at most `ANSWER_WAIT_S`. Raises as `answered` does."""
    if settings.ANSWER_INLINE or watchdog.in_worker():
        WORK.work(1.0, question.pk)
    most_s = settings.ANSWER_WAIT_S
    end = time.monotonic() + (most_s if wait_s is None else min(wait_s, most_s))
    pause, call_at = _FIRST_LOOK_S, 0.0
    while True:
        row = Question.objects.filter(pk=question.pk)
        found = row.values_list("state", "lease_until").first()
        if found is None:
            raise NotFoundError(Absent.ANSWER.said(answer=question.pk))
        if found[0] == Question.DONE:
            answer, error = row.values_list("answer", "error").get()
            if error:
                raise_again(error)
            return answer
        now = time.monotonic()
        if now >= call_at:
            WORK.call()
            call_at = now + _CALL_AGAIN_S
        if now >= end:
            so_far = row.values_list("answer", flat=True).first()
            raise NotYetError(question.pk, so_far=so_far)
        connections.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_LOOK_S)


def _is_full(user: User) -> bool:
    running = Question.objects.filter(state=Question.RUNNING)
    each, in_all = settings.LIMITS["answers_per_user"], settings.LIMITS["answers"]
    if each and running.filter(asked_by=user).count() >= each:
        return True
    return bool(in_all) and running.count() >= in_all
