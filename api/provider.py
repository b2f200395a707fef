"""The pages of signing in at a provider: the way there, and the way back."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth import login
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from api.oidc_errors import InvalidCallbackError, ProviderUnavailableError
from api.signing import SIGNED_IN_BY, form, slow_down, target_of
from sandbox import actions
from sandbox.actions.access import note
from sandbox.base.environment import Provider
from sandbox.base.errors import ForbiddenError

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
    from api import openid

    target = target_of(request)
    request.session[_WANTED] = target
    try:
        there = request.build_absolute_uri(reverse("provider-back"))
        return openid.redirect(request, provider, there)
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
    from api import openid

    arrival = openid.handle_callback(request, provider)
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
