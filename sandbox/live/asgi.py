"""The ASGI application: HTTP to Django, WebSocket to sandbox.live.routing."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
http = get_asgi_application()  # before anything that imports a model

from sandbox.base.security import OriginCheck  # noqa: E402
from sandbox.live.body_limits import BodySizeLimit  # noqa: E402
from sandbox.live.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodySizeLimit(http),
        "websocket": OriginCheck(
            SessionMiddlewareStack(URLRouter(websocket_urlpatterns))
        ),
    }
)
