"""Signing in and out, by name and password or at the organisation's own provider.

Only the server run has these pages; in the default run nobody signs in, and where
other machines reach it joining.py has a page of its own.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from api.joining import sign_in_here
from sandbox.access.people import signs_in
from sandbox.actions.access import note
from sandbox.base.environment import Provider
from sandbox.world import commits

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Quotalab</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main>
<h1>Quotalab</h1>
{problem}
<form method="post">
<input type="hidden" name="csrfmiddlewaretoken" value="{token}">
<input type="hidden" name="next" value="{next}">
<label for="username">Name</label>
<input id="username" name="username" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password"
 autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>
{provider}
</main>
</body>
</html>
"""

_LEFT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signed out · Quotalab</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main>
<h1>Signed out</h1>
<p>You have left Quotalab, and are still signed in at {who}.</p>
<p><a class="button" href="{there}">Sign out at {who} too</a></p>
<p><a href="/sign-in">Sign in again</a></p>
</main>
</body>
</html>
"""
#: Session key: how the person came in, when a provider sent them.
SIGNED_IN_BY = "provider"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the form, or take it; after it go where the person wanted to be."""
    if not signs_in():
        raise Http404("nobody signs in here")
    if settings.LAN:
        # Count what opens nothing, and guests apart from it: a class may share one address.
        most = settings.LIMITS["requests_per_minute_joins"]
        guests = settings.LIMITS["guests_per_minute"]
        guest = not request.POST.get("once")
        full = guest and tried(request, "guests") >= guests > 0
        answer = sign_in_here(request, busy=full or tried(request) >= most > 0)
        if answer.status_code == 401:
            too_many(request, most)
        elif guest and answer.status_code == 302:
            too_many(request, guests, "guests")
        return answer
    target = target_of(request)
    if request.method == "GET":
        return form(request, target)
    if (busy := slow_down(request)) is not None:
        return busy
    given = AuthenticationForm(request, request.POST)
    if not given.is_valid():
        return form(request, target, "This name and password do not fit.", 401)
    login(request, given.get_user())
    note(given.get_user(), "sign-in")
    return HttpResponseRedirect(target)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session; offer people who came from a provider to sign out there too."""
    if not signs_in():
        return HttpResponseRedirect("/")
    came_by = request.session.get(SIGNED_IN_BY, {})
    if isinstance(request.user, User):
        person = request.user.pk
        note(request.user, "sign-out")
        logout(request)
        commits.person_changed(person)
    provider = settings.OIDC
    if provider is not None and came_by.get("end"):
        return _left(request, provider, came_by)
    return HttpResponseRedirect("/sign-in")


def _left(
    request: HttpRequest, provider: Provider, came_by: dict[str, str]
) -> HttpResponse:
    """Show the way to the provider's own sign-out.

    A link and no redirect: the policy of the page lets no form lead elsewhere.
    """
    query = urlencode(
        {
            "id_token_hint": came_by["hint"],
            "client_id": provider.client_id,
            "post_logout_redirect_uri": request.build_absolute_uri("/sign-in"),
        }
    )
    end = came_by["end"]
    there = f"{end}{'&' if '?' in end else '?'}{query}"
    style = f"{settings.STATIC_URL}api/sign-in.css"
    return HttpResponse(format_html(_LEFT, style=style, there=there, who=provider.name))


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in form, which leads back here."""
    query = urlencode({"next": request.get_full_path()})
    return HttpResponseRedirect(f"/sign-in?{query}")


def target_of(request: HttpRequest) -> str:
    """Return where to go afterwards: a page of our own and no other."""
    given = request.POST.get("next") or request.GET.get("next") or "/"
    ours = url_has_allowed_host_and_scheme(
        given, {request.get_host()}, require_https=request.is_secure()
    )
    return given if ours else "/"


def slow_down(request: HttpRequest) -> HttpResponse | None:
    """Return a refusal to an address that tried too often in this minute."""
    if not too_many(request, settings.LIMITS["sign_ins_per_minute"]):
        return None
    response = form(request, "/", "Too many tries. Wait a minute.", 429)
    response["Retry-After"] = "60"
    return response


def tried(request: HttpRequest, what: str = "sign-in") -> int:
    """Return how many tries of this address were counted in this minute."""
    return int(cache.get(_key(request, what), 0))


def _key(request: HttpRequest, what: str) -> str:
    return f"{what}-{request.META.get('REMOTE_ADDR', '')}"


def too_many(request: HttpRequest, most: int, what: str = "sign-in") -> bool:
    """Count a try of this address; return whether it is over `most` in a minute."""
    key = _key(request, what)
    cache.add(key, 0, timeout=60)
    try:
        return bool(most) and cache.incr(key) > most
    except ValueError:
        return False


def form(
    request: HttpRequest, target: str, problem: str = "", status: int = 200
) -> HttpResponse:
    """Return the sign-in page, with a sentence about what went wrong, if anything."""
    provider = SafeString("")
    if settings.OIDC:
        href = f"/sign-in/provider?{urlencode({'next': target})}"
        words = '<p><a class="button" href="{}">Sign in at {}</a></p>'
        provider = format_html(words, href, settings.OIDC.name)
    html = format_html(
        _PAGE,
        style=f"{settings.STATIC_URL}api/sign-in.css",
        token=get_token(request),
        next=target,
        problem=format_html('<p role="alert">{}</p>', problem) if problem else "",
        provider=provider,
    )
    return HttpResponse(html, status=status)
