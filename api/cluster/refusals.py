"""What a cluster refuses, as an API server of Kubernetes says it.

The paths of `/api/v1` say more about an error (file, line, code of the sentence);
clients of Kubernetes read a Status with `details` of their own shape.

Source: Status (meta/v1) of
<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/>
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from django.http import HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

from api import errors
from api.cluster import json_words
from sandbox.base.errors import Cause, NotYetError
from scheduler.input.manifests.kinds import Kind
from scheduler.model.schemas import is_built_in

Document = dict[str, Any]
NOT_SERVED = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"
_REASONS = {
    "Invalid value": "FieldValueInvalid",
    "Required value": "FieldValueRequired",
    "Unsupported value": "FieldValueNotSupported",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Not found": "FieldValueNotFound",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
}


class Resource(Protocol):
    """What a refusal says of a resource."""

    @property
    def kind(self) -> Kind:
        """Its entry in the table of kinds."""

    @property
    def full_name(self) -> str:
        """`plural.group`."""


class Fault(NamedTuple):
    """One field that is wrong; the problem begins with its sort, as `Required value`."""

    field: str
    problem: str


class RefusalError(Exception):
    """An answer that is no success, whole: code, reason, sentence, details."""

    def __init__(
        self, code: int, reason: str, message: str, details: Document | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def body(self) -> Document:
        """Return the Status."""
        found: Document = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            found["reason"] = self.reason
        if self.details is not None:
            found["details"] = self.details
        return {**found, "code": self.code}


class UndecodableError(RefusalError):
    """The 400 of an object that cannot be decoded; `problem` is what the decoder says."""

    def __init__(self, kind: str, version: str, problem: str) -> None:
        self.problem = problem
        why = f'{kind} in version "{version}" cannot be handled as a {kind}: {problem}'
        super().__init__(400, "BadRequest", why)


def _about(resource: Resource, name: str, *, kind: bool = False) -> Document:
    """Return the details of an object: its plural, or its kind where `kind` is set."""
    about = {"name": name} if name else {}
    if resource.kind.group:
        about["group"] = resource.kind.group
    return {**about, "kind": resource.kind.kind if kind else resource.kind.plural}


def not_served() -> RefusalError:
    """Return the 404 of a path that leads to no resource."""
    return RefusalError(404, "NotFound", NOT_SERVED, {})


class NoPageError(RefusalError):
    """The 404 of a path of custom resources that leads nowhere: a line of text."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found")


def misplaced(resource: Resource) -> RefusalError:
    """Return the 404 of a resource with a namespace in its path, or without, that is wrong."""
    return not_served() if is_built_in(resource.kind.group) else NoPageError()


def not_found(resource: Resource, name: str) -> RefusalError:
    """Return the 404 of an object."""
    message = f'{resource.full_name} "{name}" not found'
    return RefusalError(404, "NotFound", message, _about(resource, name))


def already_exists(resource: Resource, name: str) -> RefusalError:
    """Return the 409 of a name that is taken."""
    message = f'{resource.full_name} "{name}" already exists'
    return RefusalError(409, "AlreadyExists", message, _about(resource, name))


def conflict(
    resource: Resource, name: str, why: str, *, kind: bool = False
) -> RefusalError:
    """Return the 409 of a write that came too late; of a deletion it names the kind."""
    about = _about(resource, name, kind=kind)
    full = ".".join(filter(None, (about["kind"], resource.kind.group)))
    message = f'Operation cannot be fulfilled on {full} "{name}": {why}'
    return RefusalError(409, "Conflict", message, about)


def forbidden(resource: Resource, name: str, why: str) -> RefusalError:
    """Return the 403 for what no user may do."""
    message = f'{resource.full_name} "{name}" is forbidden: {why}'
    return RefusalError(403, "Forbidden", message, _about(resource, name))


def bad_request(message: str) -> RefusalError:
    """Return the 400 of a request that cannot be read."""
    return RefusalError(400, "BadRequest", message)


def unrecognized(kind: str, problem: str, body: bytes) -> RefusalError:
    """Return the 400 of a body that is no object at all."""
    why = f"couldn't get version/kind; json parse error: {problem}"
    return bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {why} "
        f"({json_words.shown(body)})"
    )


def not_registered(kind: str, version: str) -> str:
    """Return the sentence about a kind that an API server does not know."""
    scheme = "pkg/runtime/scheme.go:111"
    return (
        f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"'
    )


def unsupported_media(message: str = "") -> RefusalError:
    """Return the 415 of a body that is not read here."""
    if message:
        return RefusalError(415, "UnsupportedMediaType", message)
    return RefusalError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def unknown_format(*known: str) -> RefusalError:
    """Return the 415 that names the encodings that are read."""
    return unsupported_media(
        "the body of the request was in an unknown format - accepted media types "
        f"include: {', '.join(known)}"
    )


def invalid(
    resource: Resource, name: str, faults: Sequence[Fault], *, by_plural: bool = False
) -> RefusalError:
    """Return the 422 of an object, with a cause for each field that is wrong."""
    about = _about(resource, name, kind=not by_plural)
    full = ".".join(filter(None, (about["kind"], resource.kind.group)))
    return _invalid(full, name, faults, about)


def invalid_options(kind: str, faults: Sequence[Fault]) -> RefusalError:
    """Return the 422 of the options of a request."""
    about = {"group": "meta.k8s.io", "kind": kind}
    return _invalid(f"{kind}.meta.k8s.io", "", faults, about)


def invalid_other(
    kind: str, name: str, faults: Sequence[Fault], about: Document
) -> RefusalError:
    """Return the 422 of an object whose kind is not in the table, such as a Scale."""
    return _invalid(kind, name, faults, about)


def invalid_patch(shown: str, problem: str) -> RefusalError:
    """Return the 422 of a patch after which the object cannot be decoded."""
    why = f"Invalid value: {json.dumps(shown, ensure_ascii=False)}: {problem}"
    cause = {"reason": "FieldValueInvalid", "message": why, "field": "patch"}
    message = f' "" is invalid: patch: {why}'
    return RefusalError(422, "Invalid", message, {"causes": [cause]})


def _invalid(
    kind: str, name: str, faults: Sequence[Fault], about: Document
) -> RefusalError:
    lines = [f"{f.field}: {f.problem}" if f.field else f.problem for f in faults]
    lines = list(dict.fromkeys(lines))  # said once, as Go's aggregates are
    said = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    causes = [
        {"reason": _reason(f.problem), "message": f.problem, "field": f.field}
        for f in faults
    ]
    message = f'{kind} "{name}" is invalid: {said}'
    return RefusalError(422, "Invalid", message, {**about, "causes": causes})


def no_page() -> HttpResponse:
    """Return the 404 of a path below which nothing is."""
    body = "404 page not found\n"
    return HttpResponse(body, status=404, content_type="text/plain; charset=utf-8")


def _reason(problem: str) -> str:
    if " in body must be of type " in problem:
        return "FieldValueTypeInvalid"
    for sort, reason in _REASONS.items():
        if problem.startswith(sort):
            return reason
    return "FieldValueInvalid"


def faults_of(causes: Iterable[Cause]) -> list[Fault]:
    """Return what an import refuses as faults of fields."""
    return [
        Fault(cause.field, _sorted(cause.problem.text))
        for cause in causes
        if cause.level == "error"
    ]


def _sorted(problem: str) -> str:
    known = any(problem.startswith(sort) for sort in _REASONS)
    return problem if known else f"Invalid value: {problem}"


def answer(error: Exception, context: dict[str, Any]) -> Response | HttpResponse | None:
    """Return the Status of an error; None for defects, which stay a 500."""
    if isinstance(error, NoPageError):
        return no_page()
    if isinstance(error, RefusalError):
        return Response(error.body(), status=error.code)
    if isinstance(error, exceptions.MethodNotAllowed):
        refusal = RefusalError(405, "MethodNotAllowed", NOT_ALLOWED, {})
        return Response(refusal.body(), status=405)
    if isinstance(
        error, NotYetError
    ):  # a worker goes on; these clients ask nowhere else
        why = "Timeout: request did not complete within the allotted timeout"
        return Response(RefusalError(504, "Timeout", why, {}).body(), status=504)
    response = errors.answer(error, context)
    if response is None or not isinstance(response.data, dict):
        return response
    if response.data.get("kind") == "Status":
        response.data["details"] = _details(response.data.get("details") or {})
        if response.status_code == 400:
            del response.data["details"]
    return response


def _details(given: Document) -> Document:
    causes = [
        {
            name: cause[name]
            for name in ("reason", "message", "field")
            if cause.get(name)
        }
        for cause in given.get("causes") or ()
    ]
    return {"causes": causes} if causes else {}
