"""Other web pages kept out: response headers, and whose page may send requests.

Signing in and roles are elsewhere. Here a browser is kept from being used
against its owner: by a page of another site, or by a name that resolves to
this machine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.http.request import split_domain_port, validate_host
from django.utils.cache import patch_vary_headers

from scheduler.model.problems import RequestProblem
from scheduler.model.texts.plain_text import is_storable

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
#: Of the one page that others may frame: a decision by a link.
EMBEDDED_POLICY = CONTENT_SECURITY_POLICY.replace(
    "frame-ancestors 'none'", "frame-ancestors *"
)
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

Respond = Callable[[HttpRequest], HttpResponseBase]
Scope = dict[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


def headers(get_response: Respond) -> Respond:
    """Middleware: every answer says what a page made from it may load, and who keeps it.

    What is answered below /api/ is for who asked: nobody stores it but where the view
    says so, and a cache that does tells people apart.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        if request.path_info.startswith("/api/"):
            response.headers.setdefault("Cache-Control", "private, no-store")
            patch_vary_headers(response, ("Accept", "Authorization", "Cookie"))
        return response

    return respond


def storable_address(get_response: Respond) -> Respond:
    """Middleware: an address that names what no database can hold is a 400."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        asked = unquote(request.META.get("QUERY_STRING", ""))
        if is_storable(request.path_info) and "\0" not in asked:
            return get_response(request)
        problem = RequestProblem.SUSPECT.said(given="the address")
        return JsonResponse(status(400, "BadRequest", problem.text), status=400)

    return respond


def same_origin(get_response: Respond) -> Respond:
    """Middleware: a page of another origin cannot change anything here.

    Browsers name the page that asks in Origin and Sec-Fetch-Site, and pages cannot
    forge them. Programs that are no browser send neither and are let through to
    the checks of who they are.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        if request.method in READING or not _foreign(request):
            return get_response(request)
        return JsonResponse(_refusal(request), status=403)

    return respond


def _foreign(request: HttpRequest) -> bool:
    site = request.headers.get("Sec-Fetch-Site", "none")
    origin = request.headers.get("Origin")
    if origin is not None:
        return _place_of(origin) != request.get_host()
    return site not in {"same-origin", "none"}


def _place_of(origin: str) -> str:
    """Return host and port of an Origin; "" for an invalid one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # "http://["
        return ""


def _refusal(request: HttpRequest) -> dict[str, object]:
    origin = request.headers.get("Origin", "another site")
    return status(
        403,
        "Forbidden",
        f"A page of {origin} may not change anything here. "
        f"Use the page at {request.scheme}://{request.get_host()}.",
    )


def status(code: int, reason: str, message: str) -> dict[str, object]:
    """Return a refusal in Kubernetes' words, for what is checked before the API."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": {"causes": []},
        "code": code,
    }


class OriginCheck:
    """ASGI wrapper: a WebSocket is opened by our own page or by no page.

    Both names are checked: Host against ALLOWED_HOSTS (a foreign name may resolve
    to this machine), and Origin against Host (another local port is another page).
    """

    def __init__(self, application: App) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Hand on, or refuse before the handshake ends (HTTP 403)."""
        if welcome(dict(scope["headers"])):
            await self.application(scope, receive, send)
            return
        await send({"type": "websocket.close", "code": 4403})


def welcome(handshake: dict[bytes, bytes]) -> bool:
    """Return whether a handshake comes from our own page or from a program without a page."""
    host = handshake.get(b"host", b"").decode("latin-1").lower()
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    origin = handshake.get(b"origin")
    return origin is None or _place_of(origin.decode("latin-1")) == host
