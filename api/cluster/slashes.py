"""A slash at the end of a cluster's path, which API servers allow for discovery."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

_BELOW = r"^/api/v1/sandboxes/[^/]+/(?:apis?|openapi|version)(?:/.*)?/$"
_CLUSTER = re.compile(_BELOW)
Respond = Callable[[HttpRequest], HttpResponseBase]


def without_last_slash(get_response: Respond) -> Respond:
    """Middleware: `.../apis/` is answered as `.../apis`."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if _CLUSTER.match(request.path_info):
            request.path_info = request.path_info.rstrip("/")
            request.path = request.path.rstrip("/")
        return get_response(request)

    return respond
