"""Who works a question out: taken up by a conditional UPDATE, and held by a lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from sandbox.answers.errors import document_of
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import GivenUpError, OvertakenError
from sandbox.models import Question
from sandbox.process import watchdog

LEASE_S = 10.0
#: A question at which a worker was lost this often is given up: it may be the reason.
MOST_TRIES = 2
_GLANCE = 8


@dataclass(frozen=True, slots=True)
class QuestionClaim:
    """The right to write the answer to a question, while the fence is the newest."""

    question_id: int
    fence: int


def open_questions() -> QuerySet[Question]:
    """Return the questions that anybody may take up."""
    now = DatabaseTime()
    return Question.objects.filter(
        state=Question.RUNNING, lease_until__lt=now, wanted_until__gt=now
    )


def _at_once() -> QuerySet[Question]:
    """Return what may be taken up, first of those who have fewest under way."""
    mine = Question.objects.filter(
        asked_by=OuterRef("asked_by"),
        state=Question.RUNNING,
        lease_until__gte=DatabaseTime(),
    )
    under_way = mine.order_by().values("asked_by").annotate(n=Count("pk")).values("n")
    found = open_questions().annotate(under_way=Coalesce(Subquery(under_way), Value(0)))
    most = settings.LIMITS["answers_at_once_per_user"]
    if most:
        found = found.filter(under_way__lt=most)
    return found.order_by("under_way", "pk")


def take(question_id: int | None = None) -> QuestionClaim | None:
    """Take up a question, any unless one is named; None when none may be.

    Of one person no more than `answers_at_once_per_user` are under way; those who have
    fewest come first.
    """
    waiting = _at_once()
    if question_id is not None:
        waiting = open_questions().filter(pk=question_id)
    while found := list(waiting.values_list("pk", "fence", "tries")[:_GLANCE]):
        for pk, fence, tries in found:
            if tries >= MOST_TRIES:
                _give_up(pk, fence, tries)
                continue
            same = Question.objects.filter(pk=pk, fence=fence, state=Question.RUNNING)
            lease = {"fence": fence + 1, "lease_until": DatabaseTime() + LEASE_S}
            if same.update(tries=tries + 1, **lease) == 1:
                return QuestionClaim(pk, fence + 1)
    return None


def _give_up(pk: int, fence: int, tries: int) -> None:
    message = (
        f"given up: its worker was lost, or stood still for {settings.STANDSTILL_S} s, "
        f"{tries} times; ask for less"
    )
    end(QuestionClaim(pk, fence), error=document_of(GivenUpError(message)))


def renew(claim: QuestionClaim) -> bool:
    """Extend the claim; False when another worker has the question by now."""
    lease_until = DatabaseTime() + LEASE_S
    back = watchdog.tries_taken_back()
    return _mine(claim).update(lease_until=lease_until, **back) == 1


def tell(claim: QuestionClaim, answer: Any) -> None:
    """Write what is known of an answer so far.

    Raises OvertakenError when another worker has the question, or somebody stopped it.
    """
    if not _mine(claim).update(answer=answer):
        raise OvertakenError(
            f"question {claim.question_id} is nobody's here any longer"
        )


def end(claim: QuestionClaim, **columns: Any) -> bool:
    """Write an answer or an error; False when another worker has the question."""
    kept = {"arguments": {}, "lease_until": 0, **columns}
    return _mine(claim).update(state=Question.DONE, **kept) == 1


def end_lapsed() -> None:
    """Delete, in one statement, questions that were not asked again in time."""
    now = DatabaseTime()
    done = Q(state=Question.DONE) | Q(lease_until__lt=now)
    Question.objects.filter(done, wanted_until__lte=now).delete()


def _mine(claim: QuestionClaim) -> QuerySet[Question]:
    return Question.objects.filter(
        pk=claim.question_id, fence=claim.fence, state=Question.RUNNING
    )
