"""OpenID Connect by Authlib: to the provider, and back with claims that were checked.

Apart from its views, because Authlib takes a third of a second to load and most
runs never need it. Its own defaults leave the audience open and take whatever
algorithms the provider offers, so what must hold is named here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import DjangoOAuth2App, OAuth
from authlib.integrations.requests_client import OAuth2Session
from django.conf import settings
from django.contrib.auth import login
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from joserfc.errors import JoseError
from requests import RequestException, Response, TooManyRedirects

from api.signing import SIGNED_IN_BY, form, slow_down, target_of
from sandbox import actions
from sandbox.actions.access import note
from sandbox.base.environment import Provider
from sandbox.base.errors import ForbiddenError
from sandbox.world.webhooks import is_outside, numbers_of
from scheduler.engine.kube.extender.ports import ExtenderError

#: Signatures that only the provider can make; never "none", never a shared secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
PATIENCE_S = 5.0
#: How far the provider's clock may be from ours.
LEEWAY_S = 60
_UNFIT = (OAuthError, JoseError, ValueError, KeyError, TypeError, RuntimeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLogin:
    """Somebody who came back from the provider."""

    claims: Mapping[str, Any]
    id_token: str
    end_session: str  # where to sign out at the provider; "" when it has no such place


def redirect(request: HttpRequest, provider: Provider, back: str) -> HttpResponse:
    """Return the way to the provider, with state, nonce and a PKCE challenge.

    They are kept in the session until the person is back at the address `back`.
    """
    try:
        answer: HttpResponse = _client(provider).authorize_redirect(request, back)
    except (RequestException, *_UNFIT) as error:
        raise ProviderUnavailableError(str(error)) from error
    return answer


def handle_callback(request: HttpRequest, provider: Provider) -> ProviderLogin:
    """Return the person who signed in. Raises UnfitError, or AwayError when the provider does not answer."""
    try:
        client = _client(provider)
        token = client.authorize_access_token(
            request, claims_options=_wanted(provider), leeway=LEEWAY_S
        )
        return ProviderLogin(
            claims=_complete(client, provider, token),
            id_token=token["id_token"],
            end_session=client.server_metadata.get("end_session_endpoint", ""),
        )
    except RequestException as error:
        raise ProviderUnavailableError(str(error)) from error
    except _UNFIT as error:
        raise InvalidCallbackError(f"{type(error).__name__}: {error}") from error


class _Session(OAuth2Session):
    """Goes where the addresses that were checked are, and nowhere else."""

    def get_redirect_target(self, resp: Response) -> None:
        """Refuse a redirect: where it leads was checked by nobody."""
        if resp.is_redirect:
            raise TooManyRedirects(
                f"{resp.url} redirects to {resp.headers['Location']!r}: name the "
                "address itself, redirects of a provider are not followed"
            )


class _App(DjangoOAuth2App):
    client_cls = _Session


def _client(provider: Provider) -> Any:
    """Return an Authlib client that knows the provider's addresses and keys by now."""
    issuer = provider.issuer.rstrip("/")
    client = OAuth().register(
        "provider",
        client_cls=_App,
        client_id=provider.client_id,
        client_secret=provider.secret or None,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": provider.scope,
            "code_challenge_method": "S256",
            "default_timeout": PATIENCE_S,
            **({} if provider.secret else {"token_endpoint_auth_method": "none"}),
        },
    )
    metadata = client.load_server_metadata()
    if metadata.get("issuer") != provider.issuer:
        raise ProviderUnavailableError(
            f"{provider.issuer} calls itself {metadata.get('issuer')!r}"
        )
    check_addresses(provider.issuer, metadata)
    offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    fit = [name for name in offered if name in ALGORITHMS]
    metadata["id_token_signing_alg_values_supported"] = fit or ["RS256"]
    return client


def check_addresses(issuer: str, metadata: Mapping[str, Any]) -> None:
    """Refuse addresses of a provider's document that this server must not ask.

    They have the issuer's scheme, and lead inside only where the issuer itself does.
    Raises ProviderUnavailableError.
    """
    own = urlsplit(issuer)
    for name in ("token_endpoint", "userinfo_endpoint", "jwks_uri"):
        parts = urlsplit(str(metadata.get(name) or issuer))
        if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            continue
        inside = _leads_inside(parts) and not _leads_inside(own)
        if parts.scheme != own.scheme or inside:
            raise ProviderUnavailableError(
                f"{issuer} names {name} {parts.geturl()!r}: expected {own.scheme}://, "
                "and no address of a private network"
            )


def _leads_inside(parts: SplitResult) -> bool:
    try:
        found = numbers_of(parts.hostname or "", parts.port)
    except (ExtenderError, ValueError):
        return False  # nothing is there to be asked
    return not all(is_outside(ip_address(number)) for number in found)


def _wanted(provider: Provider) -> dict[str, dict[str, object]]:
    """Return what an ID token must say beside the nonce, which Authlib holds."""
    return {
        "iss": {"essential": True, "value": provider.issuer},
        "aud": {"essential": True, "value": provider.client_id},
        "exp": {"essential": True},
        "sub": {"essential": True},
    }


def _complete(
    client: Any, provider: Provider, token: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the ID token's claims, and what the userinfo endpoint adds to them."""
    if not token.get("userinfo"):
        raise InvalidCallbackError("the answer holds no ID token")
    claims = dict(token["userinfo"])
    lacking = {"preferred_username", "email", provider.groups_claim} - set(claims)
    if lacking and client.server_metadata.get("userinfo_endpoint"):
        more = client.userinfo(token=token)
        if more.get("sub") != claims["sub"]:
            raise InvalidCallbackError("the userinfo is about somebody else")
        claims = {**more, **claims}
    return claims


# ------------------------------------------------------------------------
# What may go wrong on the way back from a provider of sign-ins.


class ProviderUnavailableError(Exception):
    """The provider does not answer, or not as the provider that was named."""


class InvalidCallbackError(Exception):
    """What came back is not what was asked for."""


# ------------------------------------------------------------------------
# The pages of signing in at a provider: the way there, and the way back.


logger = logging.getLogger(__name__)

_WANTED = "provider-target"  # session key: where the person wanted to be
REFUSED = "The sign-in was not accepted. Try again."
AWAY = "The provider does not answer as it should. Try again later."


@never_cache
@require_GET
def go(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider."""
    provider = configured()
    if (busy := slow_down(request)) is not None:
        return busy

    target = target_of(request)
    request.session[_WANTED] = target
    try:
        there = request.build_absolute_uri(reverse("provider-back"))
        return redirect(request, provider, there)
    except ProviderUnavailableError as error:
        logger.warning("the provider is away: %s", error)
        return form(request, target, AWAY, 502)


@never_cache
@require_GET
def back(request: HttpRequest) -> HttpResponse:
    """Sign in the person who comes back, if everything fits; else change nothing."""
    provider = configured()
    if (busy := slow_down(request)) is not None:
        return busy
    target = str(request.session.pop(_WANTED, "/"))
    try:
        return _welcomed(request, provider, target)
    except ProviderUnavailableError as error:
        logger.warning("the provider is away: %s", error)
        return form(request, target, AWAY, 502)
    except InvalidCallbackError as error:
        logger.warning("a sign-in was refused: %s", error)
        return form(request, target, REFUSED, 401)
    except ForbiddenError as error:
        return form(request, target, f"You may not sign in: {error.message}.", 403)
    except IntegrityError:  # two who come for the first time, by one name
        return form(request, target, REFUSED, 409)


def _welcomed(request: HttpRequest, provider: Provider, target: str) -> HttpResponse:

    arrival = handle_callback(request, provider)
    user = actions.do_recognise(provider, arrival.claims)
    login(request, user)
    request.session[SIGNED_IN_BY] = {
        "end": arrival.end_session,
        "hint": arrival.id_token,
    }
    note(user, "sign-in", subject=provider.issuer)
    return HttpResponseRedirect(target)


def configured() -> Provider:
    """Return the provider; where there is none, nothing is here."""
    provider: Provider | None = settings.OIDC
    if provider is None or not settings.SERVER:
        raise Http404("no provider is set up")
    return provider
