"""How far a token reaches: reading, changing, or letting others in."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

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
