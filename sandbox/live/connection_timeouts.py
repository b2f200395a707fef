"""Connections that say nothing, or stop in the middle of a word, end.

uvicorn ends a connection that is idle after an answer, and a socket that answers no
ping; one that never sends a request it would keep for ever. Given to uvicorn as
`--http sandbox.live.connection_timeouts:TimedProtocol`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from sandbox.process import watchdog

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
        _notice_gone_peers(transport.get_extra_info("socket"))
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


def _notice_gone_peers(peer: Any) -> None:
    for level, name, value in _OPTIONS:
        if hasattr(socket, name):
            with contextlib.suppress(
                OSError, AttributeError
            ):  # no TCP, or no such peer
                peer.setsockopt(level, getattr(socket, name), value)
