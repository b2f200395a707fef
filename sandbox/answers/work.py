"""A worker's part: take up a question, work it out, write the answer or the error."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import msgspec
from django.conf import settings
from django.db import OperationalError
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from sandbox.base import errors
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import (
    Cause,
    GivenUpError,
    NotFoundError,
    OvertakenError,
    SandboxError,
    TooManyError,
)
from sandbox.base.refusals import Absent
from sandbox.models import Question, Sandbox
from sandbox.process import watchdog
from sandbox.process.calls import PartWork
from sandbox.process.celery import ANSWERS
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence, plain

logger = logging.getLogger(__name__)

#: How often a question that is worked out shows that its worker is alive.
RENEW_S = 3.0
#: How often, at most, is told how far an answer is.
TELL_S = 0.1


def execute(claim: QuestionClaim) -> bool:
    """Work out what was claimed, or a part, and write it; False when it came to nothing."""
    question = Question.objects.filter(pk=claim.question_id).first()
    if question is None:  # nobody wanted it any longer
        return False
    _at_work.append(claim.question_id)
    try:
        with watchdog.renewing(lambda: renew(claim), RENEW_S):
            found = work_of(question.kind, _Teller(claim).tell)(
                *_sandboxes(question), **question.arguments
            )
            answer = msgspec.to_builtins(found)
    except OperationalError:
        logger.warning("a question was left", exc_info=True)
        return False
    except YieldedError:
        return bool(_mine(claim).update(lease_until=0, tries=0))
    except (SandboxError, SchedulerError) as error:
        return end(claim, error=document_of(error))
    except Exception as error:  # a defect of ours ends one question, and is reported
        logger.exception("a question failed", extra={"kind": question.kind})
        return end(claim, error=document_of(error))
    finally:
        _at_work.pop()
    return end(claim, answer=answer)


#: The questions that this process is at: one, and those that it asks.
_at_work: list[int] = []


class YieldedError(BaseException):
    """Raised by work that stops between two parts and goes on in a later turn."""


def yield_to_others() -> None:
    """Raise YieldedError, in a worker, where another question would be taken up before this.

    For work that has kept what it has found. It is taken up again after those that were
    taken up less often. One query.
    """
    if watchdog.in_worker() and _at_work:
        first = _at_once(leaving=_at_work[-1]).values_list("pk", flat=True).first()
        if first != _at_work[-1]:
            raise YieldedError


class _Teller:
    """Tells how far an answer is, not too often; shows that the work goes on."""

    def __init__(self, claim: QuestionClaim) -> None:
        self._claim = claim
        self._next = 0.0  # monotonic seconds

    def tell(self, answer: Any) -> None:
        """Raises as `claims.tell` does."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + TELL_S
            watchdog.goes_on(settings.STANDSTILL_S)
            tell(self._claim, answer)


def _sandboxes(question: Question) -> list[Sandbox]:
    rows = Sandbox.objects.select_related("owner", "parent")
    found = rows.in_bulk(question.sandboxes)
    for pk in question.sandboxes:
        if pk not in found:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=pk))
    return [found[pk] for pk in question.sandboxes]


# ------------------------------------------------------------------------
# Who works a question out: taken up by a conditional UPDATE, and held by a lease.


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


def _at_once(leaving: int = 0) -> QuerySet[Question]:
    """Return what may be taken up, first of those who have fewest under way.

    Of those what was taken up least often: short work before the later parts of long. The
    question `leaving` counts as one that nobody is at.
    """
    now = DatabaseTime()
    running = Question.objects.filter(state=Question.RUNNING)
    mine = running.filter(asked_by=OuterRef("asked_by"), lease_until__gte=now)
    mine = mine.exclude(pk=leaving).order_by()
    under_way = mine.values("asked_by").annotate(n=Count("pk")).values("n")
    waiting = running.filter(
        Q(lease_until__lt=now, wanted_until__gt=now) | Q(pk=leaving)
    )
    found = waiting.annotate(under_way=Coalesce(Subquery(under_way), Value(0)))
    most = settings.LIMITS["answers_at_once_per_user"]
    if most:
        found = found.filter(under_way__lt=most)
    return found.order_by("under_way", "fence", "pk")


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


WORK = PartWork(
    task="sandbox.answers",
    take=take,
    execute=execute,
    queue=ANSWERS,
    running=lambda: Question.objects.filter(state=Question.RUNNING),
    open_parts=open_questions,
    end_lapsed=end_lapsed,
)


# ------------------------------------------------------------------------
# The kinds of questions, by name: what a worker calls with the arguments that are
# kept. Each enrols itself where its work is; the modules are found at the first question.


Work = Callable[..., Any]
Tell = Callable[[Any], None]

#: Where kinds enrol themselves. Named, not imported: they are above this package.
_ENROLLING = (
    "sandbox.actions.asked",
    "sandbox.answers.requests",
    "sandbox.explain.asked",
    "sandbox.experiments.asked",
    "sandbox.whatifs.work",
)
_kinds: dict[str, Work] = {}
_telling: set[str] = set()
#: The kinds that change a sandbox: each time that one is asked it is another.
ACTS = frozenset({"redo", "undo"})


def answers(kind: str, *, tells: bool = False) -> Callable[[Work], Work]:
    """Enrol what answers a kind of question; with `tells` it takes `tell=`, called with the answer so far."""

    def enrol(work: Work) -> Work:
        _kinds[kind] = work
        if tells:
            _telling.add(kind)
        return work

    return enrol


def work_of(kind: str, tell: Tell) -> Work:
    """Return what answers a kind of question; `tell` gets the answer so far."""
    for module in _ENROLLING:
        import_module(module)
    work = _kinds[kind]
    return partial(work, tell=tell) if kind in _telling else work


# ------------------------------------------------------------------------
# Errors as data: a worker writes what a web process raises again.


def document_of(error: Exception) -> dict[str, Any]:
    """Return an error as plain data; of a defect its class and message."""
    if isinstance(error, SandboxError):
        kind = type(error).__name__
        if getattr(errors, kind, None) is not type(error):
            kind = SandboxError.__name__
        return {
            "kind": kind,
            "said": msgspec.to_builtins(error.said),
            "causes": msgspec.to_builtins(error.causes),
        }
    if isinstance(error, SchedulerError):
        kind = SchedulerError.__name__
        return {"kind": kind, "said": msgspec.to_builtins(error.said)}
    said = plain(f"{type(error).__name__}: {error}"[:4000])
    return {"kind": GivenUpError.__name__, "said": msgspec.to_builtins(said)}


def raise_again(document: dict[str, Any]) -> NoReturn:
    """Raise the error that a worker wrote."""
    kind = document["kind"]
    said = msgspec.convert(document["said"], Sentence)
    if kind == SchedulerError.__name__:
        raise SchedulerError(said)
    causes = msgspec.convert(document.get("causes", ()), tuple[Cause, ...])
    found: type[SandboxError] = getattr(errors, kind)
    if issubclass(found, TooManyError):
        raise TooManyError(said, wait=1.0)
    raise found(said, causes=causes)
