"""Idempotency-Key: the same request sent twice is done once and answered twice."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models.functions import Now
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from sandbox.base.errors import ConflictError
from sandbox.base.refusals import NotNow
from sandbox.models import Answer
from sandbox.models.sandbox import answering
from scheduler.model.problems import Wanted, expected

HEADER = "Idempotency-Key"
_LONGEST = 200
#: No request takes this long; then its key may be used again.
FREE_AFTER = timedelta(minutes=2)

Post = Callable[..., Response]


def once(post: Post) -> Post:
    """Decorate a POST so that a repeated key gets the first answer again."""

    @functools.wraps(post)
    def wrapped(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER, "")
        user = request.user
        if not key or not isinstance(user, User):
            return post(view, request, *args, **kwargs)
        if len(key) > _LONGEST or not (key.isascii() and key.isprintable()):
            problem = expected(Wanted.PRINTABLE.said(most=_LONGEST))
            raise invalid({HEADER: problem})
        digest = hashlib.sha256()
        digest.update(f"{request.method} {request.get_full_path()}\n".encode())
        digest.update(repr(request.data).encode())
        print_ = digest.hexdigest()
        known = Answer.objects.filter(user=user, key=key).first()
        if known is None:
            return _first(post, view, request, args, kwargs, user, key, print_)
        if _take_over(known, print_, own=getattr(request, "own_key", False)):
            return _answer(post, view, request, args, kwargs, known)
        return _again(known, print_)

    return wrapped


def _first(
    post: Post,
    view: Any,
    request: Request,
    args: Any,
    kwargs: Any,
    user: User,
    key: str,
    print_: str,
) -> Response:
    try:
        row = Answer.objects.create(
            user=user, key=key, request=print_, status=Answer.BEGUN, body={}
        )
    except IntegrityError:
        raise ConflictError(NotNow.ANSWERED.said()) from None
    # By the database's clock: to a host an hour ahead it would be an hour late.
    Answer.objects.filter(pk=row.pk).update(at=Now())
    return _answer(post, view, request, args, kwargs, row)


def _take_over(known: Answer, print_: str, *, own: bool) -> bool:
    """Take the key of a request whose process was killed before it could answer.

    `own`: the key is of a question, which one worker has at a time.
    """
    same = Answer.objects.filter(pk=known.pk, request=print_, status=Answer.BEGUN)
    if not own:
        same = same.filter(at__lt=Now() - FREE_AFTER)
    return same.update(at=Now()) == 1


def _answer(
    post: Post, view: Any, request: Request, args: Any, kwargs: Any, row: Answer
) -> Response:
    token = answering.set(row.pk)
    try:
        response = post(view, request, *args, **kwargs)
    except BaseException:
        # Free again where nothing was committed: it may be tried once more.
        Answer.objects.filter(pk=row.pk, status=Answer.BEGUN).delete()
        raise
    finally:
        answering.reset(token)
    row.status, row.body = response.status_code, response.data
    row.save(update_fields=["status", "body"])
    return response


def _again(known: Answer, print_: str) -> Response:
    if not known.fits(print_):
        raise ConflictError(NotNow.KEY.said())
    if known.status == Answer.CARRIED_OUT:
        raise ConflictError(NotNow.CARRIED_OUT.said())
    if known.status == Answer.BEGUN:
        raise ConflictError(NotNow.ANSWERED.said())
    return Response(known.body, status=known.status)
