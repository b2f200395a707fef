"""What a process hears of one sandbox, once for all the clients that it has of it.

A client has a bounded queue. Missed messages show as a gap between revisions and are
taken from history.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from channels.layers import get_channel_layer

from sandbox.live import pages, rights
from sandbox.live.first_page import FirstPage
from sandbox.live.messages import MOST_WAITING, Message
from sandbox.live.threads import in_thread
from sandbox.page.wire import ServiceStatus
from sandbox.world.broadcast import PEOPLE, group_of

logger = logging.getLogger(__name__)

#: Statuses and news that may wait for one client; the newest are kept.
MOST_NOTES = 16
#: How often the newest revision is looked up, in case the bus lost a message.
LOOK_EVERY_S = 2.0
CLOSE_GONE = 4404

encode_status = msgspec.json.Encoder().encode

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int], Coroutine[Any, Any, None]]


@dataclass(eq=False, slots=True)
class Client:
    """One open socket. `revision` is what it has; None = it waits for a page."""

    send: Send
    close: Close
    revision: int | None = None
    waiting: deque[Message] = field(default_factory=deque)
    unsent: asyncio.Event = field(default_factory=asyncio.Event)  # set: something is
    page_wanted: bool = False
    notes: deque[str] = field(  # statuses and news, to be sent first
        default_factory=lambda: deque(maxlen=MOST_NOTES)
    )
    pump: asyncio.Task[None] | None = None

    def offer(self, message: Message) -> None:
        """Queue a diff; when too many wait, forget them and want a page."""
        if len(self.waiting) >= MOST_WAITING:
            self.waiting.clear()
            self.page_wanted = True
        else:
            self.waiting.append(message)
        self.unsent.set()


def _status(level: Literal["live", "waiting", "error"], message: str) -> str:
    return encode_status(ServiceStatus(level=level, message=message)).decode()


class SandboxSubscription:
    """The clients of one sandbox in this process, and their one subscription."""

    def __init__(self, sandbox_id: str) -> None:
        self.sandbox_id = sandbox_id
        self.clients: set[Client] = set()
        self.newest = 0
        self.reader: asyncio.Task[None] | None = None
        self.watcher: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()
        self.first_page = FirstPage(sandbox_id)
        self.reported = "live"

    async def page(self) -> tuple[list[str], int]:
        """Return the frames of a whole page, and its revision; made once for many."""
        return await self.first_page.get(self.newest)

    def open(self) -> None:
        """Begin to listen."""
        self.reader = asyncio.create_task(self._listen())
        self.watcher = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop listening."""
        for task in (self.reader, self.watcher):
            if task is not None:
                task.cancel()

    async def _listen(self) -> None:
        """Hand on what the bus brings; a bus that is away is waited for."""
        while True:
            try:
                await self._subscribe()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                logger.warning("the bus is away: %s", error)
                self.listening.set()  # the watcher keeps clients going meanwhile
                await asyncio.sleep(0.5)

    async def _subscribe(self) -> None:
        layer: Any = get_channel_layer()
        channel = await layer.new_channel("hub")
        groups = (group_of(self.sandbox_id), PEOPLE)
        for group in groups:
            await layer.group_add(group, channel)
        self.listening.set()
        try:
            while True:
                self.take(await layer.receive(channel))
        finally:
            for group in groups:
                await asyncio.shield(layer.group_discard(group, channel))

    def take(self, message: dict[str, Any]) -> None:
        """Offer one message of the bus to every client."""
        if message["type"] == "gone":
            self._end()
            return
        if message["type"] == "news":
            self._note(message["body"].decode())
            return
        if message["type"] == "rights":
            rights.note_changed(self.sandbox_id)
            return
        if message["type"] == "person":
            rights.note_person(message["user"])
            return
        if message["type"] != "diff":
            return
        diff = Message(message["from"], message["revision"], message["body"])
        self.newest = max(self.newest, diff.revision)
        self.first_page.take(diff)
        for client in self.clients:
            client.offer(diff)

    async def _look_at_bus(self) -> None:
        """Say when the bus is away; its layer connects again without a word."""
        layer: Any = get_channel_layer()
        ping = layer.group_send(group_of(self.sandbox_id), {"type": "ping"})
        try:
            await asyncio.wait_for(ping, LOOK_EVERY_S)
        except Exception as error:
            logger.warning("the bus is away: %s", error)
            self.report("waiting", "the message bus is away; time stands still")
        else:
            if self.reported == "waiting":
                self.report("live", "")

    def report(self, level: Literal["live", "waiting", "error"], message: str) -> None:
        """Say how the service is, when that changed."""
        if level == self.reported:
            return
        self.reported = level
        self._note(_status(level, message))

    def _note(self, text: str) -> None:
        for client in self.clients:
            client.notes.append(text)
            client.unsent.set()

    def _end(self) -> None:
        for client in list(self.clients):
            asyncio.create_task(client.close(CLOSE_GONE))  # noqa: RUF006 - ends by itself

    async def _watch(self) -> None:
        """Find revisions that the bus did not deliver."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self._look_at_bus()
            try:
                newest = await in_thread(pages.newest_revision, self.sandbox_id)
            except Exception as error:
                logger.warning("the database is away: %s", error)
                self.report("error", "the database does not answer; nothing is lost")
                continue
            if self.reported == "error":
                self.report("live", "")
            if newest is None:
                self._end()
            elif newest > self.newest:
                self.newest = newest
                for client in self.clients:
                    if (client.revision or newest) < newest and not client.waiting:
                        client.page_wanted = True
                        client.unsent.set()
