"""Who is there: the one local user of the default run, or whoever signed in."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
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


def signs_in() -> bool:
    """Return whether users sign in: on a server, and where other machines reach a run."""
    return settings.SERVER or bool(settings.LAN)


def local_user() -> User:
    """Return the user of the default run, made when there is none.

    The default run lets in loopback and its own page (security.py):
    who gets through them is the person at this machine. Where other machines reach
    it, that person has a link of the terminal (owner_link.py).
    """
    # Every request asks this; to put the query together costs more than it.
    found = User.objects.raw("SELECT * FROM auth_user WHERE username = %s", [LOCAL])
    if there := next(iter(found), None):
        return there
    user, made = User.objects.get_or_create(username=LOCAL)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def local_sign_in(get_response: Respond) -> Respond:
    """Middleware of the default run: every request is of the local user."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if not signs_in():
            request.user = local_user()
        return get_response(request)

    return respond


@dataclass(frozen=True, slots=True)
class Asker:
    """The session or token that opened a stream; the user behind it is looked up again later."""

    token: str = ""  # hash
    session: str = ""  # key
    user_id: int = 0  # of a request that a test signed in

    @classmethod
    def of_scope(cls, scope: dict[str, Any]) -> Asker:
        """Return the user who opened a WebSocket."""
        for name, value in scope["headers"]:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                return cls(token=hash_of(value[7:].decode("latin-1").strip()))
        session = scope.get("session")
        return cls(session=(session.session_key or "") if session is not None else "")

    @classmethod
    def of_request(cls, user_id: int, auth: object, session: object) -> Asker:
        """Return the user of a request that was signed in already."""
        if isinstance(auth, Token):
            return cls(token=auth.hash)
        key = str(getattr(session, "session_key", None) or "")
        return cls(session=key) if key else cls(user_id=user_id)

    def person(self) -> User | AnonymousUser:
        """Return the user as of now; AnonymousUser when signed out, stopped or revoked."""
        if self.token:
            token = (
                Token.objects.unexpired()
                .select_related("user")
                .filter(hash=self.token)
                .first()
            )
            return token.user if token and token.user.is_active else AnonymousUser()
        if not signs_in():
            return local_user()
        if self.user_id:
            found = User.objects.filter(pk=self.user_id, is_active=True).first()
            return found or AnonymousUser()
        return _by_session(self.session)


def _by_session(key: str) -> User | AnonymousUser:
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


# ------------------------------------------------------------------------
# The owner's way in where other machines reach a run: a link that is good once.


class OwnerLink:
    """The link of this process; closed until `open` is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = ""
        self._base = ""
        self._say: Callable[[str], None] = print

    def open(self, base: str, say: Callable[[str], None]) -> str:
        """Make the first link of the run at `base`, say it, and return it."""
        self._base, self._say = base, say
        return self._next()

    def fits(self, key: str) -> bool:
        """Return whether a key is that of the link; it stays good."""
        return bool(self._key) and constant_time_compare(key, self._key)

    def take(self, key: str) -> bool:
        """Use the link up; return False for another key. A link is taken once, by one browser."""
        with self._lock:
            if not self.fits(key):
                return False
            self._next()
            return True

    def _next(self) -> str:
        self._key = secrets.token_urlsafe(32)
        link = f"{self._base}/sign-in?once={self._key}"
        self._say(f"Sign in once, as the owner: {link}")
        return link


owner_link = OwnerLink()
