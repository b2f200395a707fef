"""The WebSocket of a sandbox: hello, then a page or diffs, then every diff."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Any

import msgspec
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.urls import re_path

from sandbox.access import rights
from sandbox.access.lessons import running_news
from sandbox.access.limits import connection_slots, handshakes
from sandbox.access.people import Asker
from sandbox.base import counters
from sandbox.base.refusals import Absent
from sandbox.base.threads import once_for_all
from sandbox.live.subscription import CLOSE_GONE, Client, hub
from sandbox.page.wire import Hello, service_status
from sandbox.process import services

# ------------------------------------------------------------------------
# The WebSocket of a sandbox: hello, then a page or diffs, then every diff.


CLOSE_BAD_MESSAGE = 4400
CLOSE_FULL = 4429
#: Hellos of one socket in a minute. A page says one, and one after each gap.
MOST_HELLOS = 60
#: Hellos are small; a larger frame is not one of ours.
LARGEST_FRAME = 4096

_read_hello = msgspec.json.Decoder(Hello).decode
_encode = msgspec.json.Encoder().encode


class SandboxConsumer(AsyncWebsocketConsumer):
    """One browser on one sandbox. Clients say hello and nothing else."""

    # The hub listens for all. A channel of each socket's own would be a place on the
    # bus that nobody sends to, and no socket would open while the bus is away.
    channel_layer_alias = ""
    client: Client | None = None
    slot: int | None = None
    guard: asyncio.Task[None] | None = None
    silence: asyncio.TimerHandle | None = None
    ending: asyncio.Task[None] | None = None
    hellos: Sequence[float] = ()

    async def connect(self) -> None:
        """Accept people who may see the sandbox; for all others it does not exist."""
        self.sandbox_id: str = self.scope["url_route"]["kwargs"]["sandbox_id"]
        address = (self.scope.get("client") or ("",))[0]
        if not handshakes.allowed(address, time.time()):
            counters.count_refused(403, "HANDSHAKES_PER_MINUTE", "")
            await self.close(CLOSE_FULL)
            return
        self.asker = Asker.of_scope(self.scope)
        person = await rights.who_streams(self.asker, self.sandbox_id)
        if person is None:
            await self.close(CLOSE_GONE)
            return
        if not connection_slots.take(person):
            counters.count_refused(403, "CONNECTIONS", f"#{person}")
            await self.close(CLOSE_FULL)
            return
        self.slot = person
        services.start("web")
        counters.note_size("sockets", 1)
        await self.accept()
        self.guard = asyncio.create_task(self._end_with_right())
        seconds = settings.LIMITS["seconds_per_hello"]
        if seconds:
            loop = asyncio.get_running_loop()
            self.silence = loop.call_later(seconds, self._end_silent)

    async def _end_with_right(self) -> None:
        """Close the socket when the right to it ends."""
        await rights.lost(self.asker, self.sandbox_id)
        if self.client is not None:
            await hub.leave(self.sandbox_id, self.client)
        await self.close(CLOSE_GONE)

    def _end_silent(self) -> None:
        """Close a socket that never said hello: it takes a place and nothing else."""
        self.ending = asyncio.create_task(self.close(CLOSE_BAD_MESSAGE))

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        """Take a hello; anything else closes the socket with 4400."""
        if self.silence is not None:
            self.silence.cancel()
        hello = _hello(text_data)
        if hello is None:
            await self.close(CLOSE_BAD_MESSAGE)
            return
        if self._too_many_hellos():
            await self.close(CLOSE_FULL)
            return
        if self.client is None:
            self.client = Client(send=self.send, close=self._close)
            await hub.enter(self.sandbox_id, self.client)
            news = await once_for_all(running_news, self.sandbox_id)
            if news is not None:
                self.client.notes.append(news)
        self.client.revision = hello.since
        self.client.page_wanted = True
        self.client.unsent.set()

    def _too_many_hellos(self) -> bool:
        """Count one; each may cost a whole page."""
        now = time.monotonic()
        self.hellos = [*(at for at in self.hellos if now - at < 60), now]
        return len(self.hellos) > MOST_HELLOS

    async def disconnect(self, code: int) -> None:
        """Leave the hub."""
        if self.silence is not None:
            self.silence.cancel()
        if self.guard is not None:
            self.guard.cancel()
        if self.slot is not None:
            connection_slots.leave(self.slot)
            counters.note_size("sockets", -1)
        if self.client is not None:
            await hub.leave(self.sandbox_id, self.client)

    async def _close(self, code: int) -> None:
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            if code == CLOSE_GONE:
                status = service_status("error", Absent.GONE.said())
                await self.send(text_data=_encode(status).decode())
            await self.close(code)


def _hello(text: str | None) -> Hello | None:
    if text is None or len(text) > LARGEST_FRAME:
        return None
    try:
        return _read_hello(text)
    except (msgspec.MsgspecError, UnicodeError):
        return None


class NotFoundConsumer(AsyncWebsocketConsumer):
    """Every other path: closed as for a sandbox that does not exist."""

    channel_layer_alias = ""

    async def connect(self) -> None:
        """Close, as for a sandbox that does not exist."""
        await self.close(CLOSE_GONE)


# ------------------------------------------------------------------------
# WebSocket paths.


websocket_urlpatterns: list[Any] = [
    re_path(r"^ws/sandboxes/(?P<sandbox_id>[a-z2-7]{12})$", SandboxConsumer.as_asgi()),
    re_path(r"", NotFoundConsumer.as_asgi()),
]
