"""How far a token reaches: reading, changing, or letting others in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from sandbox.models import Token
from sandbox.models.access import Scope
from sandbox.models.sandbox import is_guest

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class HasScope(IsAuthenticated):
    """Somebody who signed in, or a token whose scope covers the request.

    A view that lets people in or out, or makes tokens, sets `scope = "admin"`. A guest
    of a lesson reads; what else one may do is in the view's `guest_methods`.
    """

    message = "neither the token's scope nor a guest's right covers this request"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request may go on to the checks of the sandbox."""
        if not super().has_permission(request, view):
            return False
        if is_guest(request.user):
            return request.method in getattr(view, "guest_methods", READING)
        token = request.auth
        return not isinstance(token, Token) or token.allows(scope_of(request, view))


def scope_of(request: Request, view: Any) -> Scope:
    """Return the scope that a request needs."""
    own: Scope | None = getattr(view, "scope", None)
    if own is not None:
        return own
    if request.method in READING:
        return "read"
    return "admin" if request.method in getattr(view, "admin_methods", ()) else "write"


# ------------------------------------------------------------------------
# How often somebody may ask; beyond it 429 with Retry-After.


class PerPerson(SimpleRateThrottle):
    """Requests of one person, or of one address before they sign in.

    Off in the default run, where the one person is at the machine itself.
    """

    scope = "all"

    def get_rate(self) -> str | None:
        """Return how many per minute the operator allows; None for no limit."""
        most: int = settings.LIMITS[f"requests_per_minute_{self.scope}"]
        return f"{most}/minute" if most else None

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """Return the name under which requests are counted."""
        user = request.user
        ident = f"u{user.pk}" if user.is_authenticated else self.get_ident(request)
        return f"throttle-{self.scope}-{ident}"


class Writes(PerPerson):
    """Requests that change something."""

    scope = "writes"

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count changes only."""
        return request.method in READING or super().allow_request(request, view)


class Explanations(PerPerson):
    """Questions whose answers are run: each may cost as much as many ticks."""

    scope = "explanations"


class CodeTries(PerPerson):
    """Codes that open no lesson and links that open no film, in the default run too.

    One that opens something is not counted: a class may share an address.
    """

    scope = "joins"

    def throttle_success(self) -> bool:
        """Let it through; `count` counts what then turns out to be no code."""
        return True

    def count(self, request: Request, view: Any) -> None:
        """Count a try that opened nothing."""
        key = self.get_cache_key(request, view)
        if self.rate is not None:
            _, seconds = self.parse_rate(self.rate)
            tries = self.cache.get(key, [])
            self.cache.set(key, [self.timer(), *tries], seconds)
