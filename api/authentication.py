"""Who sends a request: the session's user, or the local user of the default run."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from sandbox.people import local_user


class LocalOrSession(SessionAuthentication):
    """Sign-in by session with CSRF checks; in the default run nobody signs in.

    There the doors are loopback, Host and Origin, which sandbox.security keeps.
    """

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """Return the user, or None for a stranger."""
        if not settings.SERVER:
            return local_user(), None
        found: tuple[User, None] | None = super().authenticate(request)
        return found

    def authenticate_header(self, request: Request) -> str:
        """Return a challenge, so that strangers get 401 and not 403."""
        return 'Session realm="quotalab"'


class LocalOrSessionScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document describes it."""

    target_class = "api.authentication.LocalOrSession"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return a cookie; the default run needs none."""
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
