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

from sandbox.base.denials import NotNow
from sandbox.live import pages, rights
from sandbox.live.bus import Listener, bus_problem
from sandbox.live.first_page import FirstPage
from sandbox.live.messages import MOST_WAITING, Message
from sandbox.live.threads import one_of_many
from sandbox.page.wire import service_status
from sandbox.world.broadcast import group_of
from scheduler.model.sentence import Sentence

logger = logging.getLogger(__name__)

#: Statuses and news that may wait for one client; the newest are kept.
MOST_NOTES = 16
#: How often the newest revision is looked up, in case the bus lost a message.
LOOK_EVERY_S = 2.0
CLOSE_GONE = 4404

encode_status = msgspec.json.Encoder().encode

Level = Literal["live", "waiting", "error"]
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
    behind: int | None = (
        None  # the revision that it had at the last look, if an old one
    )
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


class SandboxSubscription:
    """The clients of one sandbox in this process, and their one subscription."""

    def __init__(self, sandbox_id: str) -> None:
        self.sandbox_id = sandbox_id
        self.clients: set[Client] = set()
        self.newest = 0
        self.listener: Listener
        self.watcher: asyncio.Task[None]
        self.first_page = FirstPage(sandbox_id)
        self.reported = "live"

    async def page(self) -> tuple[list[str], int]:
        """Return the frames of a whole page, and its revision; made once for many."""
        return await self.first_page.get(self.newest)

    def open(self) -> None:
        """Begin to listen."""
        self.listener = Listener(group_of(self.sandbox_id), self.take)
        self.watcher = asyncio.create_task(self._watch())

    def close(self) -> None:
        """Stop listening."""
        self.listener.close()
        self.watcher.cancel()

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
        if message["type"] != "diff":
            return
        diff = Message(
            message["from"],
            message["revision"],
            message["body"],
            message["rewrites"],
        )
        self.newest = max(self.newest, diff.revision)
        self.first_page.take(diff)
        for client in self.clients:
            client.offer(diff)

    async def _look_at_bus(self) -> None:
        """Say when the bus is away; its layer connects again without a word."""
        if await bus_problem():
            self.report("waiting", NotNow.BUS.said())
        elif self.reported == "waiting":
            self.report("live")

    def report(self, level: Level, said: Sentence | None = None) -> None:
        """Say how the service is, when that changed."""
        if level == self.reported:
            return
        self.reported = level
        self._note(encode_status(service_status(level, said)).decode())

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
                newest = await one_of_many(pages.newest_revisions, item=self.sandbox_id)
            except Exception as error:
                logger.warning("the database is away: %s", error)
                self.report("error", NotNow.DATABASE.said())
                continue
            if self.reported == "error":
                self.report("live")
            if newest is None:
                self._end()
            else:
                self.catch_up(newest)

    def catch_up(self, newest: int) -> None:
        """Have clients take from history what the bus did not bring them.

        Who is behind though nothing was committed since the last look may still be
        sending; who has not moved at the next look missed it.
        """
        missed = newest > self.newest
        self.newest = max(self.newest, newest)
        for client in self.clients:
            behind = client.revision if (client.revision or newest) < newest else None
            lost = behind is not None and (missed or client.behind == behind)
            if lost and not client.waiting:
                client.page_wanted = True
                client.unsent.set()
            client.behind = behind
