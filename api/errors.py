"""Errors of the packages below as Kubernetes-style Status bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from msgspec import to_builtins
from rest_framework import exceptions
from rest_framework.response import Response

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
from scheduler.model.errors import SchedulerError
from scheduler.words.reading import read


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
#: So many causes get the codes of their problems; more of them nobody reads.
_MOST_READ = 200
#: Seconds after which a busy service may be asked again.
RETRY_S = 1


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the Status of an error; None for defects, which stay a 500."""
    del context
    if isinstance(error, NotYetError):
        return _not_yet(error)
    for kind, code, reason in _CODES:
        if isinstance(error, kind):
            return _response(error, code, reason)
    return None


def _not_yet(error: NotYetError) -> Response:
    """Return a 202 that names the place to ask again."""
    place = f"/api/v1/{error.place}"
    body = {"id": error.question, "place": place, "message": error.message}
    headers = {"Location": place, "Retry-After": str(RETRY_S)}
    return Response(body, status=202, headers=headers)


def _response(error: Exception, code: int, reason: str) -> Response:
    body = status_body(code, reason, message_of(error), causes_of(error))
    own = error.said if isinstance(error, SandboxError) else None
    if (said := own or read(body["message"])) is not None:
        body["details"]["said"] = to_builtins(said)
    response = Response(body, status=code)
    if code == 503:
        response["Retry-After"] = str(RETRY_S)
    wait = getattr(error, "wait", None)
    if isinstance(wait, int | float):
        response["Retry-After"] = str(int(wait) + 1)
    return response


def defect(request: HttpRequest) -> HttpResponse:
    """Answer what nobody foresaw: a Status below /api, else a plain sentence."""
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


def message_of(error: Exception) -> str:
    """Return the sentence for people."""
    if isinstance(error, RecursionError):
        return "nested beyond reading"
    if _is_full(error):
        return "the disk of the database is full; reading works, try again later"
    if isinstance(error, InternalError) or "readonly" in str(error):
        return "the database takes no changes now; reading works, try again later"
    if isinstance(error, OperationalError):
        return "the database does not answer; try again"
    if isinstance(error, exceptions.ValidationError):
        return "; ".join(c["message"] for c in causes_of(error)) or "invalid"
    if isinstance(error, exceptions.APIException):
        return str(error.detail)
    return str(error) or "not found"


def _is_full(error: Exception) -> bool:
    """Return whether a statement failed for want of space: SQLite's words, PostgreSQL's code."""
    code = getattr(error.__cause__, "sqlstate", "")
    return isinstance(error, OperationalError) and (
        code == "53100" or "disk is full" in str(error)
    )


def causes_of(error: Exception) -> list[dict[str, Any]]:
    """Return what is wrong, place by place."""
    if isinstance(error, SandboxError):
        return [*map(cause_body, _with_codes(error.causes))]
    if isinstance(error, exceptions.ValidationError):
        return [*map(cause_body, _with_codes(list(_fields("", error.detail))))]
    return []


def _with_codes(causes: Sequence[Cause]) -> Iterable[Cause]:
    """Return causes with the codes of their problems, where they have one."""
    for cause in causes[:_MOST_READ]:
        yield cause if cause.said else replace(cause, said=read(cause.problem))
    yield from causes[_MOST_READ:]


def cause_body(cause: Cause) -> dict[str, Any]:
    """Return one cause as it travels."""
    body = {
        "reason": "FieldValueInvalid" if cause.level == "error" else cause.level,
        "message": cause.problem,
        "field": cause.field,
        "file": cause.file,
        "line": cause.line,
        "level": cause.level,
        "count": cause.count,
    }
    return body if cause.said is None else {**body, "said": to_builtins(cause.said)}


def _fields(path: str, detail: Any) -> Iterable[Cause]:
    if isinstance(detail, dict):
        for name, part in detail.items():
            yield from _fields(f"{path}.{name}" if path else str(name), part)
    elif isinstance(detail, list):
        for n, part in enumerate(detail):
            inner = f"{path}[{n}]" if isinstance(part, dict | list) else path
            yield from _fields(inner, part)
    else:
        yield Cause(problem=f"{path}: {detail}", field=path)
