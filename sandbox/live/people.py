"""Who is there: the one local user of the default run, or whoever signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import constant_time_compare

from sandbox.models import Token
from sandbox.models.access import hash_of

LOCAL = "local"

Respond = Callable[[HttpRequest], HttpResponseBase]


def local_user() -> User:
    """Return the user of the default run, made when there is none.

    The default run lets in loopback and its own page (security.py):
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
    session = scope.get("session")
    return AnonymousUser() if session is None else _by_session(session.session_key)


def _by_session(key: str | None) -> User | AnonymousUser:
    """Return whose session it is by now: who signed out, or was let out, is nobody.

    The session that the handshake loaded is as old as the socket.
    """
    kept = SessionStore(key).load() if key else {}
    found = User.objects.filter(pk=kept.get(SESSION_KEY, 0), is_active=True).first()
    if found is None:
        return AnonymousUser()
    given = str(kept.get(HASH_SESSION_KEY, ""))
    same = constant_time_compare(given, found.get_session_auth_hash())
    return found if same else AnonymousUser()


def _by_token(secret: str) -> User | AnonymousUser:
    token = Token.objects.living().filter(hash=hash_of(secret)).first()
    return token.user if token and token.user.is_active else AnonymousUser()
