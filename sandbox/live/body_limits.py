"""How much may be sent, and how slowly: refused before anything reads it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from sandbox.base.security import App, Scope, status
from sandbox.process import watchdog
from scheduler.model.amounts import is_whole
from scheduler.model.problems import RequestProblem

#: Requests that carry whole files; every other body is a few names and numbers.
CARRYING = re.compile(
    r"^/api/v1/(?:archives|experiments(?:/estimate)?|sandboxes|twins|conversions|imports/dry|traces/preview"
    r"|sandboxes/[^/]+/(?:actions/(?:import|apply)|what-ifs(?:/[^/]+/patch)?|forecasts?|would))/?$"
)
Receive = Callable[[], Awaitable[dict[str, Any]]]


class TooLargeError(Exception):
    """More bytes came than are taken at this path."""


class TooSlowError(Exception):
    """The body did not arrive in its time."""


class BodySizeLimit:
    """ASGI wrapper: a body beyond the limit of its path is a 413, a slow one a 408.

    Django writes a body to disk before a view sees it, however long it is; so it is
    stopped here, by Content-Length at once, and otherwise where it passes the limit.
    Neither costs more memory than one chunk.
    """

    def __init__(self, application: App) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Any) -> None:
        """Hand on, or refuse."""
        most = most_bytes(scope["path"])
        if _announced(scope) > most > 0:
            await _refuse(send, *_too_large(most))
            return
        body = _Body(receive, most=most, seconds=settings.LIMITS["seconds_per_body"])
        try:
            await self.application(scope, body.receive, send)
        except TooLargeError:
            await _refuse(send, *_too_large(most))
        except TooSlowError:
            await _refuse(
                send, 408, "Timeout", "the body came too slowly; send it again"
            )


def most_bytes(path: str) -> int:
    """Return how many bytes of a body are taken at a path; 0 = any number."""
    name = "bytes_per_upload" if CARRYING.match(path) else "bytes_per_body"
    most: int = settings.LIMITS[name]
    return most


class _Body:
    """The messages of one request's body, counted and timed."""

    def __init__(self, receive: Receive, *, most: int, seconds: int) -> None:
        self._receive = receive
        self._most = most
        self._left = most
        self._end = asyncio.get_running_loop().time() + seconds if seconds else None

    async def receive(self) -> dict[str, Any]:
        """Return the next message; after the body, wait as long as it takes."""
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError as error:
            raise TooSlowError from error
        self._left -= len(message.get("body", b""))
        if self._most and self._left < 0:
            raise TooLargeError
        if not message.get("more_body"):
            self._end = None
        return message


def _announced(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if is_whole(length) else 0


def _too_large(most: int) -> tuple[int, str, str]:
    problem = RequestProblem.BODY.said(most=most)
    return 413, "RequestEntityTooLarge", problem.text


async def _refuse(send: Any, code: int, reason: str, message: str) -> None:
    """Answer with a Status, and close: what else would come is not read."""
    body = json.dumps(status(code, reason, message)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# ------------------------------------------------------------------------
# Connections that say nothing, or stop in the middle of a word, end.


#: Bytes that nobody acknowledges or takes for this long end their connection.
UNREAD_MS = 60_000
#: Where the system has them: a peer that is gone is noticed within about a minute.
_OPTIONS = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 30),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 10),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", UNREAD_MS),
)


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[valid-type,misc]
    """uvicorn's HTTP, with a time in which the head of a request must be there."""

    _timer: asyncio.TimerHandle | None = None
    _upgraded = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        peer = transport.get_extra_info("socket")
        for level, name, value in _OPTIONS:
            if hasattr(socket, name):
                with contextlib.suppress(
                    OSError, AttributeError
                ):  # no TCP, or no such peer
                    peer.setsockopt(level, getattr(socket, name), value)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take bytes; what they leave unfinished has its time."""
        super().data_received(data)
        self._look()

    def handle_websocket_upgrade(self, *args: Any) -> None:
        """Let go: from here on pings show whether anybody is there."""
        self._upgraded = True
        super().handle_websocket_upgrade(*args)

    def shutdown(self) -> None:
        """Begin to end, as uvicorn asks each connection: what takes long is given up."""
        watchdog.end()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        self._stop()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Have the time run while no request is whole, and only then."""
        seconds = settings.LIMITS["seconds_per_head"]
        if not self._waits():
            self._stop()
        elif self._timer is None and seconds:
            self._timer = self.loop.call_later(seconds, self._end)

    def _waits(self) -> bool:
        answered = self.cycle is None or self.cycle.response_complete
        return answered and not self._upgraded

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        if self._waits():
            self.transport.abort()
