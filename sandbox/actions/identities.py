"""Who a provider of OpenID Connect says is there, as one of our users."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count

from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.access import note
from sandbox.base.environment import Provider
from sandbox.base.errors import ForbiddenError
from sandbox.base.refusals import Denied
from sandbox.models import Identity

Claims = Mapping[str, object]
_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")
LONGEST_NAME = 150


@transaction.atomic
def do_recognise(provider: Provider, claims: Claims) -> User:
    """Return the user of checked claims, made at their first sign-in.

    A name that is taken is never taken over: the newcomer gets a number. Groups
    are asked for at every sign-in. Raises ForbiddenError where they do not fit,
    or where the user was switched off here.
    """
    groups = groups_of(claims.get(provider.groups_claim))
    if provider.groups and not provider.groups & groups:
        raise ForbiddenError(Denied.GROUPS.said())
    user = _known(provider, claims) or _made(provider, claims)
    if not user.is_active:
        raise ForbiddenError(Denied.ACCOUNT.said())
    user.first_name = str(claims.get("given_name") or "")[:150]
    user.last_name = str(claims.get("family_name") or "")[:150]
    user.email = str(claims.get("email") or "")[:254]
    if provider.staff:
        user.is_staff = bool(provider.staff & groups)
    user.save()
    return user


def groups_of(claim: object) -> frozenset[str]:
    """Return the names in a claim that is a list, or a text with spaces."""
    if isinstance(claim, str):
        return frozenset(claim.split())
    return frozenset(map(str, claim)) if isinstance(claim, list) else frozenset()


def _known(provider: Provider, claims: Claims) -> User | None:
    found = Identity.objects.select_related("user").filter(
        issuer=provider.issuer, subject=str(claims["sub"])
    )
    identity = found.first()
    return identity.user if identity else None


def _made(provider: Provider, claims: Claims) -> User:
    taken = User.objects.filter
    name = next(n for n in _names(claims) if not taken(username=n).exists())
    user = User.objects.create_user(name)  # with no password that could fit
    Identity.objects.create(
        user=user, issuer=provider.issuer, subject=str(claims["sub"])
    )
    note(user, "first-sign-in", subject=provider.issuer)
    return user


def _names(claims: Claims) -> Iterator[str]:
    """Yield what the person may be called, the best first."""
    wanted = claims.get("preferred_username") or claims.get("email") or claims["sub"]
    plain = _NOT_IN_NAMES.sub("-", str(wanted)).strip("-")[: LONGEST_NAME - 8]
    name = plain or "somebody"
    yield name
    yield from (f"{name}-{number}" for number in count(2))
