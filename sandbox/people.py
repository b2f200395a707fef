"""Who is there: the one local user of the default run, or whoever signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponseBase

from sandbox.models import Token
from sandbox.models.access import hash_of

LOCAL = "local"

Respond = Callable[[HttpRequest], HttpResponseBase]


def local_user() -> User:
    """Return the user of the default run, made when there is none.

    The doors of the default run are loopback and our own page (security.py):
    who gets through them is the person at this machine.
    """
    user, made = User.objects.get_or_create(username=LOCAL)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def local_sign_in(get_response: Respond) -> Respond:
    """Middleware of the default run: everybody who gets here is the local user."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if not settings.SERVER:
            request.user = local_user()
        return get_response(request)

    return respond


def person_of(scope: dict[str, Any]) -> User | AnonymousUser:
    """Return who opened a WebSocket. Asks the database."""
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return _by_token(value[7:].decode("latin-1").strip())
    if not settings.SERVER:
        return local_user()
    user = scope.get("user")
    return user if isinstance(user, User) else AnonymousUser()


def _by_token(secret: str) -> User | AnonymousUser:
    token = Token.objects.living().filter(hash=hash_of(secret)).first()
    return token.user if token and token.user.is_active else AnonymousUser()
