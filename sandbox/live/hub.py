"""One subscription per process and sandbox, fanned out to the clients in it.

A client has a bounded queue and a pump. Who reads slowly gets diffs merged
into one; who does not read at all is closed. Missed messages show as a gap
between revisions and are taken from history.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec
from channels.layers import get_channel_layer

from sandbox.live import pages, rights
from sandbox.live.threads import in_thread
from sandbox.page import diffs
from sandbox.page.diffs import decode_step, encode_step
from sandbox.page.wire import ServiceStatus
from sandbox.world.broadcast import group_of

logger = logging.getLogger(__name__)

#: Diffs that may wait for one client; beyond it gets a whole page instead.
MOST_WAITING = 256
#: Statuses and news that may wait for one client; the newest are kept.
MOST_NOTES = 16
#: More than these at once are merged before they are sent.
MERGE_FROM = 3
#: A client that takes nothing for this long is closed.
SEND_PATIENCE_S = 10.0
#: How often the newest revision is looked up, in case the bus lost a message.
LOOK_EVERY_S = 2.0
#: A page that many ask for at once is made once, and shown for this long.
PAGE_KEPT_S = 0.5
CLOSE_SLOW, CLOSE_GONE = 4408, 4404

encode_status = msgspec.json.Encoder().encode

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int], Coroutine[Any, Any, None]]


class Message(NamedTuple):
    """A diff as it came from the bus: where it leads, and its JSON."""

    begin: int
    revision: int
    body: bytes


@dataclass(eq=False, slots=True)
class Client:
    """One open socket. `revision` is what it has; None = it waits for a page."""

    send: Send
    close: Close
    revision: int | None = None
    waiting: deque[Message] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
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
        self.wake.set()


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
        self.making = asyncio.Lock()
        self.reported = "live"
        self.made: tuple[float, list[str], int] | None = None  # when, frames, revision

    async def page(self) -> tuple[list[str], int]:
        """Return a page that is at most PAGE_KEPT_S old: made once for many."""
        async with self.making:
            now = time.monotonic()
            if self.made is None or now - self.made[0] > PAGE_KEPT_S:
                frames, revision = await in_thread(
                    pages.frames_for, self.sandbox_id, None
                )
                self.made = now, frames, revision
            return self.made[1], self.made[2]

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
        await layer.group_add(group_of(self.sandbox_id), channel)
        self.listening.set()
        try:
            while True:
                self.take(await layer.receive(channel))
        finally:
            await asyncio.shield(
                layer.group_discard(group_of(self.sandbox_id), channel)
            )

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
        diff = Message(message["from"], message["revision"], message["body"])
        self.newest = max(self.newest, diff.revision)
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
            client.wake.set()

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
                        client.wake.set()


class Hub:
    """The subscriptions of this process. Everything here runs in one event loop."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, SandboxSubscription] = {}

    async def enter(self, sandbox_id: str, client: Client) -> None:
        """Join first, so that what is sent meanwhile is seen twice, never missed."""
        subscription = self.subscriptions.get(sandbox_id)
        if subscription is None:
            subscription = self.subscriptions[sandbox_id] = SandboxSubscription(
                sandbox_id
            )
            subscription.open()
        subscription.clients.add(client)
        await asyncio.wait_for(subscription.listening.wait(), SEND_PATIENCE_S)
        client.pump = asyncio.create_task(pump(subscription, client))

    async def leave(self, sandbox_id: str, client: Client) -> None:
        """Leave; the last one out ends the subscription."""
        if client.pump is not None:
            client.pump.cancel()
        subscription = self.subscriptions.get(sandbox_id)
        if subscription is None:
            return
        subscription.clients.discard(client)
        if not subscription.clients:
            del self.subscriptions[sandbox_id]
            await subscription.close()


async def pump(subscription: SandboxSubscription, client: Client) -> None:
    """Send a client what it has not got, in order and without a gap."""
    while True:
        await client.wake.wait()
        client.wake.clear()
        try:
            while client.notes:
                await asyncio.wait_for(
                    client.send(client.notes.popleft()), SEND_PATIENCE_S
                )
            for text in await _next(subscription, client):
                await asyncio.wait_for(client.send(text), SEND_PATIENCE_S)
        except TimeoutError:
            await client.close(CLOSE_SLOW)
            return
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception(
                "a client was not served", extra={"sandbox": subscription.sandbox_id}
            )
            await client.close(1011)
            return


async def _next(subscription: SandboxSubscription, client: Client) -> list[str]:
    """Return the frames that bring the client to what is known now."""
    messages = list(client.waiting)
    client.waiting.clear()
    if client.revision is not None and not client.page_wanted:
        fresh = [m for m in messages if m.revision > client.revision]
        if _join(fresh, client.revision):
            if fresh:
                client.revision = fresh[-1].revision
            return _frames(fresh)
    client.page_wanted = False
    if client.revision is None:
        frames, client.revision = await subscription.page()
        # Diffs that came while the page was made are above it, or in it.
        client.waiting.extendleft(reversed(messages))
        client.wake.set()
        return frames
    frames, client.revision = await in_thread(
        pages.frames_for, subscription.sandbox_id, client.revision
    )
    if client.waiting:
        client.wake.set()
    return frames


def _join(messages: list[Message], revision: int) -> bool:
    """Return whether the diffs follow one another from `revision` on."""
    at = revision
    for message in messages:
        if message.begin != at:
            return False
        at = message.revision
    return True


def _frames(messages: list[Message]) -> list[str]:
    if len(messages) < MERGE_FROM:
        return [message.body.decode() for message in messages]
    merged = diffs.merge([decode_step(message.body) for message in messages])
    return [encode_step(merged).decode()]


hub = Hub()
