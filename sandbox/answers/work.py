"""A worker's part: take up a question, work it out, write the answer or the error."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings
from django.db import OperationalError

from sandbox.answers import claims, errors
from sandbox.answers.claims import QuestionClaim
from sandbox.answers.kinds import work_out
from sandbox.base.absences import Absent
from sandbox.base.errors import NotFoundError, SandboxError
from sandbox.models import Question, Sandbox
from sandbox.process import watchdog
from scheduler.model.errors import SchedulerError

logger = logging.getLogger(__name__)

#: How often a question that is worked out shows that its worker is alive.
RENEW_S = 3.0
#: How often, at most, is told how far an answer is.
TELL_S = 0.1


def work(seconds: float, question_id: int | None = None) -> int:
    """Work questions out, one after the other, for about so long; return how many ended.

    One that was begun is brought to its end.
    """
    end, ended = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        claim = claims.take(question_id)
        if claim is None:
            break
        ended += execute(claim)
    return ended


def execute(claim: QuestionClaim) -> bool:
    """Work out what was claimed and write it; False when it came to nothing."""
    question = Question.objects.filter(pk=claim.question_id).first()
    if question is None:  # nobody wanted it any longer
        return False
    try:
        with watchdog.renewing(lambda: claims.renew(claim), RENEW_S):
            answer = work_out(
                question.kind,
                _sandboxes(question),
                question.arguments,
                tell=_Teller(claim).tell,
            )
    except OperationalError:
        logger.warning("a question was left", exc_info=True)
        return False
    except (SandboxError, SchedulerError) as error:
        return claims.end(claim, error=errors.document_of(error))
    except Exception as error:  # a defect of ours ends one question, and is reported
        logger.exception("a question failed", extra={"kind": question.kind})
        return claims.end(claim, error=errors.document_of(error))
    return claims.end(claim, answer=answer)


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
            claims.tell(self._claim, answer)


def _sandboxes(question: Question) -> list[Sandbox]:
    rows = Sandbox.objects.select_related("owner", "parent")
    found = rows.in_bulk(question.sandboxes)
    for pk in question.sandboxes:
        if pk not in found:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=pk))
    return [found[pk] for pk in question.sandboxes]
