"""A request that a worker answers whole, as the web process would have answered it.

Work that is large for a process that serves others raises ForWorkerError there, before
anything is changed; what was asked is then kept as a question, and a worker calls the
same view with it. The answer is what the view answered: status, headers, body.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import resolve

from sandbox.answers.work import answers
from sandbox.models import Token
from sandbox.models.sandbox import new_id

KIND = "request"
#: Who asks is known by then, and no secret is kept.
_LEFT_OUT = frozenset({"HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_X_CSRFTOKEN"})


def document_of(
    request: HttpRequest, user: User, token: Token | None
) -> dict[str, Any]:
    """Return a request as plain data, each time as another question.

    A POST without a key gets one, so that a worker that takes it up after another was
    lost does nothing twice.
    """
    head = {
        name: value
        for name, value in request.META.items()
        if isinstance(value, str)
        and name not in _LEFT_OUT
        and (name.startswith("HTTP_") or name in ("CONTENT_TYPE", "QUERY_STRING"))
    }
    number = new_id()
    own = request.method == "POST" and "HTTP_IDEMPOTENCY_KEY" not in head
    return {
        "method": request.method,
        "path": request.path_info,
        "head": head,
        "body": base64.b64encode(request.body).decode(),
        "user": user.pk,
        "token": token and token.pk,
        "key": f"answer-{number}" if own else "",
        "number": number,
    }


@answers(KIND)
def answer(
    *,
    method: str,
    path: str,
    head: Mapping[str, str],
    body: str,
    user: int,
    token: int | None,
    key: str,
    number: str,
) -> dict[str, Any]:
    """Answer the request here, as its user; `number` only tells it from others.

    Raises User.DoesNotExist and Token.DoesNotExist for who is no longer there.
    """
    data = base64.b64decode(body)
    environ = {
        "wsgi.input": BytesIO(data),
        "wsgi.url_scheme": "http",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        **head,
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "CONTENT_LENGTH": str(len(data)),
    }
    if key:
        environ["HTTP_IDEMPOTENCY_KEY"] = key
    request: Any = WSGIRequest(environ)
    request.at_worker, request.own_key = True, bool(key)
    request._force_auth_user = User.objects.get(pk=user)
    request._force_auth_token = token and Token.objects.get(pk=token)
    found = resolve(path)
    request.resolver_match = found
    response = found.func(request, *found.args, **found.kwargs)
    if hasattr(response, "render"):
        response.render()
    return {
        "status": response.status_code,
        "headers": dict(response.items()),
        "body": base64.b64encode(response.content).decode(),
    }


def response_of(found: Mapping[str, Any]) -> HttpResponse:
    """Return a worker's stored answer as an HTTP response."""
    return HttpResponse(
        base64.b64decode(found["body"]),
        status=found["status"],
        headers=found["headers"],
    )
