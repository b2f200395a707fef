"""Answers that take longer than a request waits: the place to ask again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.renderers import YAML, YAMLManyRenderer
from api.views.base import View, number
from sandbox.access import limits
from sandbox.answers import asking, requests
from sandbox.base.errors import TooManyError
from sandbox.base.refusals import Denied
from sandbox.process import connections

# ------------------------------------------------------------------------
# `?wait=SECONDS`: an answer that comes when what was begun is done, or when time is
# up.


MOST_S = 60
_AGAIN_S = 1.0
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.01, 0.25

WAIT = OpenApiParameter(
    "wait",
    int,
    description=f"Seconds to wait until it is done, at most {MOST_S}; 0. The answer "
    "says how far it is.",
)


#: Seconds that an answer of a worker is waited for.
ANSWER_S = 60
ANSWER_WAIT = OpenApiParameter(
    "wait",
    int,
    description="Seconds to wait for the answer, and no longer than the service waits; "
    f"then a 202 with the answer so far as `soFar`. {ANSWER_S}.",
)


def answer_wait(request: Request) -> int:
    """Return for how many seconds the answer of a worker is waited for."""
    return number(request, "wait", ANSWER_S, most=ANSWER_S)


#: Waits until something is done, or the seconds are over.
Wait = Callable[[Callable[[], bool]], None]


@contextmanager
def waiting(request: Request) -> Iterator[Wait]:
    """Give what waits for the seconds of the query; what is begun stands in the block.

    Raises before the block for seconds that are none, and TooManyError when as many
    requests of the user, or of all, wait already. Cost: a look at most every quarter
    of a second.
    """
    seconds = number(request, "wait", 0, most=MOST_S)
    user_id = request.user.pk
    assert user_id is not None, "the permission lets nobody else get here"
    if seconds and not limits.wait_slots.take(user_id):
        raise TooManyError(Denied.WAITS.said(), wait=_AGAIN_S)
    try:
        yield partial(_wait, seconds)
    finally:
        if seconds:
            limits.wait_slots.leave(user_id)


def _wait(seconds: int, is_done: Callable[[], bool]) -> None:
    end, pause = time.monotonic() + seconds, _FIRST_LOOK_S
    while not is_done() and (left := end - time.monotonic()) > 0:
        connections.sleep(min(pause, left))
        pause = min(1.5 * pause, _LONGEST_LOOK_S)


# ------------------------------------------------------------------------
# Answers that take longer than a request waits: the place to ask again.


class OneAnswer(View):
    """The answer to a question that a worker works out."""

    renderer_classes = (JSONRenderer, YAMLManyRenderer)

    @extend_schema(
        operation_id="answers_read",
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, YAML): OpenApiTypes.STR,
        },
        parameters=[ANSWER_WAIT],
    )
    def get(self, request: Request, answer_id: int) -> Response | HttpResponse:
        """Return the answer, as the first request would; a 202 while it is not ready.

        One that nobody reads for 60 s is forgotten.
        """
        found = asking.find(answer_id, self.user())
        answer = asking.result(found, wait_s=answer_wait(request))
        if found.kind == requests.KIND:
            return requests.response_of(answer)
        return Response(answer)

    @extend_schema(operation_id="answers_delete", responses={204: None})
    def delete(self, request: Request, answer_id: int) -> Response:
        """Stop the work on an answer that you asked for; an undo or a redo is not made then."""
        asking.stop(answer_id, self.user())
        return Response(status=204)
