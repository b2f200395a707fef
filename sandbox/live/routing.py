"""WebSocket paths."""

from __future__ import annotations

from typing import Any

from django.urls import re_path

from sandbox.live.consumers import NotFoundConsumer, SandboxConsumer

websocket_urlpatterns: list[Any] = [
    re_path(r"^ws/sandboxes/(?P<sandbox_id>[a-z2-7]{12})$", SandboxConsumer.as_asgi()),
    re_path(r"", NotFoundConsumer.as_asgi()),
]
