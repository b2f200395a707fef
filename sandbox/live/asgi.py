"""The ASGI application: HTTP to Django, WebSocket to sandbox.live.consumers."""

from __future__ import annotations

import os
import threading
import warnings

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
# Each request has a thread of its own: without a pool, as many connections as come at once.
UNSET = "DATABASE_POOL" not in os.environ
os.environ.setdefault("DATABASE_POOL", "20")
# Files of the page are short and read as a whole; Django warns of each kind once,
# in the terminal of whoever runs the server.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume sync")
http = get_asgi_application()  # before anything that imports a model
if UNSET:
    del os.environ["DATABASE_POOL"]  # the settings have it; other programs ask for none

from sandbox.base.security import OriginCheck  # noqa: E402
from sandbox.live.body_limits import BodySizeLimit  # noqa: E402
from sandbox.live.consumers import websocket_urlpatterns  # noqa: E402
from sandbox.process import connections  # noqa: E402

connections.announce("web", connections.pool_size())
threading.Thread(target=connections.warn_if_too_many, daemon=True).start()
application = ProtocolTypeRouter(
    {
        "http": BodySizeLimit(http),
        "websocket": OriginCheck(
            SessionMiddlewareStack(URLRouter(websocket_urlpatterns))
        ),
    }
)
