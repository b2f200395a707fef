"""The page itself: one file for every address that the page draws."""

from __future__ import annotations

import gzip
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from api.signing import to_sign_in
from sandbox.access.people import signs_in
from sandbox.base.security import EMBEDDED_POLICY, Respond

_MISSING = (
    "The page is not built. Run ./dev build, or use the API under /api/v1/ "
    "(its description is at /api/v1/schema)."
)


def packed(get_response: Respond) -> Respond:
    """Middleware: whole files of the page travel as gzip to who takes it.

    Each is packed at its first request and kept: a build is as it was when the process
    began. Nothing else is packed: no secret is in a file that everybody is given.
    """
    kept: dict[str, bytes] = {}

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        name = request.path_info
        whole = request.method == "GET" and response.status_code == 200
        of_page = whole and name.startswith(settings.STATIC_URL)
        if not (of_page and isinstance(response, FileResponse)):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return response
        if name not in kept:
            kept[name] = gzip.compress(b"".join(response), mtime=0)
        response.close()
        headers = dict(response.items()) | {"Content-Encoding": "gzip"}
        for of_the_plain in ("Content-Length", "ETag"):
            headers.pop(of_the_plain, None)
        return HttpResponse(kept[name], headers=headers)

    return respond


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest, *, signed_in: bool = True) -> HttpResponse:
    """Return the built page; it finds out from its address what to show.

    Not `signed_in`: to anybody. A browser keeps what stands behind the # of an address,
    the secret of a link, to itself, and would lose it on the way to a provider.
    """
    if signed_in and signs_in() and not request.user.is_authenticated:
        return to_sign_in(request)
    return _built()


@require_safe
@xframe_options_exempt
def embedded(request: HttpRequest) -> HttpResponse:
    """Return the page of one decision for an iframe, which any site may frame.

    It sets no cookie and asks nobody to sign in: what it shows is the page's own secret,
    behind the # of its address, which no browser sends.
    """
    response = _built()
    response["Content-Security-Policy"] = EMBEDDED_POLICY
    return response


def _built() -> HttpResponse:
    path = Path(settings.PAGE_FOLDER) / "index.html"
    try:
        html = path.read_bytes()
    except FileNotFoundError:
        return HttpResponse(_MISSING, content_type="text/plain", status=503)
    # The names of its parts change with their content; its own does not.
    headers = {"Cache-Control": "no-cache"}
    return HttpResponse(html, content_type="text/html; charset=utf-8", headers=headers)
