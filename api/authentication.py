"""Who sends a request: the session's user, or the local user of the default run."""

from __future__ import annotations

import datetime
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from sandbox.access.people import signs_in
from sandbox.models import Token
from sandbox.models.access import hash_of

#: A token's last use is written at most this often.
_NOTED_EVERY = datetime.timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer ql_...`; for programs, which have no cookie to forge."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """Return the token's user and the token; None when none is given."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token_of(secret.strip())
        if token is None:
            raise AuthenticationFailed("this token is unknown, revoked or expired")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return a challenge, so that strangers get 401 and not 403."""
        return 'Bearer realm="quotalab"'


def token_of(secret: str) -> Token | None:
    """Return the unexpired token of an active user, and note that it was used."""
    unexpired = Token.objects.unexpired().select_related("user")
    token = unexpired.filter(hash=hash_of(secret), user__is_active=True).first()
    now = timezone.now()
    if token and (token.used_at is None or now - token.used_at > _NOTED_EVERY):
        Token.objects.filter(pk=token.pk).update(used_at=now)
    return token


class LocalOrSession(SessionAuthentication):
    """Sign-in by session with CSRF checks; in the default run nobody signs in.

    There loopback, Host and Origin are checked, which sandbox.base.security keeps.
    """

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """Return the user, or None for a stranger."""
        if not signs_in():
            # The middleware `local_sign_in` asked for it already.
            return cast("User", request._request.user), None
        found: tuple[User, None] | None = super().authenticate(request)
        return found

    def authenticate_header(self, request: Request) -> str:
        """Return a challenge, so that strangers get 401 and not 403."""
        return 'Session realm="quotalab"'


class TokenAuthenticationScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document describes it."""

    target_class = "api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return how the API's schema describes a bearer token."""
        return {"type": "http", "scheme": "bearer"}


class LocalOrSessionScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document describes it."""

    target_class = "api.authentication.LocalOrSession"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return a cookie; the default run needs none."""
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
