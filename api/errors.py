"""Errors of the packages below as Kubernetes-style Status bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.db import InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from msgspec import to_builtins
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings

from sandbox.base import counters
from sandbox.base.errors import (
    BusyError,
    Cause,
    ConflictError,
    DeniedError,
    DisruptionError,
    ForbiddenError,
    GivenUpError,
    GoneError,
    InvalidError,
    NotFoundError,
    NotYetError,
    OvertakenError,
    SandboxError,
    StaleError,
    TooManyError,
)
from sandbox.process import services
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import in_field
from scheduler.model.problems.forms import Checked, joined
from scheduler.model.problems.validation import said_of_check
from scheduler.model.sentence import Sentence, plain


class PreconditionFailedError(SandboxError):
    """If-Match names another version than the one that is there."""


class AlreadyExistsError(ConflictError):
    """An object of this name is there; Kubernetes has a reason of its own for it."""


_CODES: tuple[tuple[type[Exception], int, str], ...] = (
    (NotFoundError, 404, "NotFound"),
    (ForbiddenError, 403, "Forbidden"),
    (DeniedError, 403, "Forbidden"),
    (InvalidError, 422, "Invalid"),
    (PreconditionFailedError, 412, "PreconditionFailed"),
    (AlreadyExistsError, 409, "AlreadyExists"),
    (StaleError, 409, "Conflict"),
    (ConflictError, 409, "Conflict"),
    (OvertakenError, 409, "Conflict"),
    (GoneError, 410, "Expired"),
    (GivenUpError, 500, "InternalError"),
    (DisruptionError, 429, "TooManyRequests"),
    (TooManyError, 429, "TooManyRequests"),
    (BusyError, 503, "ServiceUnavailable"),
    (SchedulerError, 422, "Invalid"),
    (OperationalError, 503, "ServiceUnavailable"),
    # PostgreSQL's word for a transaction that may only read.
    (InternalError, 503, "ServiceUnavailable"),
    (exceptions.NotAuthenticated, 401, "Unauthorized"),
    (exceptions.AuthenticationFailed, 401, "Unauthorized"),
    (exceptions.PermissionDenied, 403, "Forbidden"),
    (PermissionDenied, 403, "Forbidden"),
    (exceptions.NotFound, 404, "NotFound"),
    (Http404, 404, "NotFound"),
    (exceptions.MethodNotAllowed, 405, "MethodNotAllowed"),
    (exceptions.NotAcceptable, 406, "NotAcceptable"),
    (exceptions.UnsupportedMediaType, 415, "UnsupportedMediaType"),
    (exceptions.Throttled, 429, "TooManyRequests"),
    (exceptions.ValidationError, 422, "Invalid"),
    (exceptions.ParseError, 400, "BadRequest"),
    (RecursionError, 400, "BadRequest"),  # of a parser: a body like "[[[[..."
)
#: Seconds after which a busy service may be asked again.
RETRY_S = 1


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the Status of an error; None for defects, which stay a 500.

    What was refused for now, or to this person, is counted.
    """
    if isinstance(error, NotYetError):
        # 202 names the place to ask again, with what is known so far.
        place = f"/api/v1/{error.place}"
        body = {"id": error.question, "place": place, "message": error.message}
        if error.so_far is not None:
            body["soFar"] = error.so_far
        headers = {"Location": place, "Retry-After": str(RETRY_S)}
        return Response(body, status=202, headers=headers)
    for kind, code, reason in _CODES:
        if isinstance(error, kind):
            if code in (429, 503) or isinstance(error, ForbiddenError):
                _count_refused(error, code, context)
            return _response(error, code, reason)
    return None


def _count_refused(error: Exception, code: int, context: dict[str, Any]) -> None:
    said = getattr(error, "said", None)
    why = said.code if said and said.code else type(error).__name__
    # Who it is was asked before, or asking is what failed.
    user = getattr(context.get("request"), "_user", None)
    services.start("web")
    counters.count_refused(code, why, user.get_username() if user else "")


def _response(error: Exception, code: int, reason: str) -> Response:
    causes = causes_of(error)
    said = _said_of(error, causes)
    body = status_body(code, reason, said.text, map(cause_body, causes))
    if said.code:
        body["details"]["said"] = to_builtins(said)
    response = Response(body, status=code)
    if code == 503:
        response["Retry-After"] = str(RETRY_S)
    wait = getattr(error, "wait", None)
    if isinstance(wait, int | float):
        response["Retry-After"] = str(int(wait) + 1)
    return response


def defect(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected exception: a Status below /api, else a plain sentence."""
    sentence = "something went wrong here; the server's log says what"
    if not request.path.startswith("/api/"):
        return HttpResponse(sentence, status=500, content_type="text/plain")
    return JsonResponse(status_body(500, "InternalError", sentence), status=500)


def status_body(
    code: int, reason: str, message: str, causes: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return a Status document."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": {"causes": list(causes)},
        "code": code,
    }


def _said_of(error: Exception, causes: Sequence[Cause]) -> Sentence:
    """Return the sentence for people."""
    if isinstance(error, SandboxError | SchedulerError):
        return error.said
    if isinstance(error, RecursionError):
        return Checked.NESTED.said()
    if _is_full(error):
        return Checked.DISK.said()
    if isinstance(error, InternalError) or "readonly" in str(error):
        return Checked.READING.said()
    if isinstance(error, OperationalError):
        return Checked.DATABASE.said()
    if isinstance(error, exceptions.ValidationError):
        found = [cause.problem for cause in causes]
        return joined(found) if found else plain("invalid")
    if isinstance(error, exceptions.APIException):
        return _said_of_detail(error.detail)
    return plain(str(error) or "not found")


def _is_full(error: Exception) -> bool:
    """Return whether a statement failed for want of space: SQLite's words, PostgreSQL's code."""
    code = getattr(error.__cause__, "sqlstate", "")
    return isinstance(error, OperationalError) and (
        code == "53100" or "disk is full" in str(error)
    )


def causes_of(error: Exception) -> Sequence[Cause]:
    """Return what is wrong, place by place."""
    if isinstance(error, SandboxError):
        return error.causes
    if isinstance(error, exceptions.ValidationError):
        return [
            Cause(problem=in_field(place, _said_of_detail(one)), field=place)
            for place, one in places_of(error.detail)
        ]
    return ()


def invalid(wrong: Mapping[str, Sentence]) -> exceptions.ValidationError:
    """Return the error of fields of a body or a query, each with what is wrong."""
    return exceptions.ValidationError(
        {field: [coded(said)] for field, said in wrong.items()}
    )


def coded(said: Sentence) -> exceptions.ErrorDetail:
    """Return a detail with its sentence as its code, which REST framework keeps."""
    return exceptions.ErrorDetail(said.text, cast("str", said))


def _said_of_detail(detail: Any) -> Sentence:
    code: object = getattr(detail, "code", None)
    return code if isinstance(code, Sentence) else said_of_check(str(detail))


def cause_body(cause: Cause) -> dict[str, Any]:
    """Return one cause as it travels."""
    body: dict[str, Any] = {
        "reason": "FieldValueInvalid" if cause.level == "error" else cause.level,
        "message": cause.problem.text,
        "field": cause.field,
        "file": cause.file,
        "line": cause.line,
        "level": cause.level,
        "count": cause.count,
    }
    said = cause.problem
    if said.code:
        body["said"] = to_builtins(said)
    if cause.repairs:
        body["repairs"] = to_builtins(list(cause.repairs))
    return body


def places_of(detail: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the faults of its place: `changes[0].delete.kind`, "" for the whole body.

    REST framework names the items of a list by their numbers, and has a name for what is
    wrong with an object as a whole.
    """
    if isinstance(detail, dict):
        for name, part in detail.items():
            yield from places_of(part, _within(place, name))
    elif isinstance(detail, list):
        for n, part in enumerate(detail):
            nested = isinstance(part, dict | list)
            yield from places_of(part, f"{place}[{n}]" if nested else place)
    else:
        yield place, detail


def _within(place: str, name: str | int) -> str:
    if name == api_settings.NON_FIELD_ERRORS_KEY:
        return place
    if isinstance(name, int):
        return f"{place}[{name}]"
    return f"{place}.{name}" if place else str(name)
