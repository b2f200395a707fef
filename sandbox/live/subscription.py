"""What a process hears of one sandbox, once for all the clients that it has of it.

A client has a bounded queue. Missed messages show as a gap between revisions and are
taken from history.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
from channels.layers import get_channel_layer

from sandbox.access import rights
from sandbox.base.refusals import NotNow
from sandbox.base.threads import in_thread, one_of_many
from sandbox.live import pages
from sandbox.page import diffs
from sandbox.page.diffs import decode_step, encode_step
from sandbox.page.wire import service_status
from sandbox.world.commits import PEOPLE, group_of
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
            message["from"], message["revision"], message["body"], message["rewrites"]
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


# ------------------------------------------------------------------------
# One subscription per process and sandbox, fanned out to the clients in it.


#: A client that takes nothing for this long is closed.
SEND_PATIENCE_S = 10.0
CLOSE_SLOW = 4408


class Hub:
    """The subscriptions of this process. Everything here runs in one event loop."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, SandboxSubscription] = {}
        self.people: Listener | None = None  # while anybody is here

    async def enter(self, sandbox_id: str, client: Client) -> None:
        """Add a client to a sandbox, then wait for the bus: a diff may come twice, never not at all."""
        subscription = self.subscriptions.get(sandbox_id)
        if subscription is None:
            subscription = self.subscriptions[sandbox_id] = SandboxSubscription(
                sandbox_id
            )
            subscription.open()
        subscription.clients.add(client)
        if self.people is None or self.people.ended:
            self.people = Listener(PEOPLE, _take_person)
        # Of a crowd some wait long for the bus; what they miss is found in history.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await self.people.listening.wait()
                await subscription.listener.listening.wait()
        if client not in subscription.clients:
            return  # its right ended meanwhile
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
            subscription.close()
        if self.people is not None and not self.subscriptions:
            self.people.close()
            self.people = None


def _take_person(message: dict[str, Any]) -> None:
    """Check the streams of somebody whose rights changed."""
    rights.note_person(message["user"])


async def pump(subscription: SandboxSubscription, client: Client) -> None:
    """Send a client what it has not got, in order and without a gap."""
    while True:
        await client.unsent.wait()
        client.unsent.clear()
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
        except OSError as error:
            # People close their pages; that is nobody's defect.
            logger.debug("a client has gone: %s", error)
            return
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
        if join(fresh, client.revision):
            if fresh:
                client.revision = fresh[-1].revision
            return frames_of(fresh)
    client.page_wanted = False
    if client.revision is None:
        frames, client.revision = await subscription.page()
        # Diffs that came while the page was made are above it, or in it.
        client.waiting.extendleft(reversed(messages))
        client.unsent.set()
        return frames
    frames, client.revision = await in_thread(
        pages.frames_for, subscription.sandbox_id, client.revision
    )
    if client.waiting:
        client.unsent.set()
    return frames


hub = Hub()


# ------------------------------------------------------------------------
# The first page of a sandbox: made from history once, for all who open it at one
# time.


#: A page that many ask for is made once, and brought forward for this long.
PAGE_KEPT_S = 10.0


class FirstPage:
    """The frames that bring a client with nothing to the newest revision."""

    def __init__(self, sandbox_id: str) -> None:
        self.sandbox_id = sandbox_id
        self.frames: list[str] = []
        self.revision = 0
        self.made_at = 0.0  # monotonic seconds
        self.recent: deque[Message] = deque(maxlen=MOST_WAITING)
        self.making = asyncio.Lock()

    def take(self, message: Message) -> None:
        """Note a diff of the bus while a page is kept or being made."""
        if self.frames or self.making.locked():
            self.recent.append(message)

    async def get(self, newest: int) -> tuple[list[str], int]:
        """Return the frames and their revision: `newest`, which the bus brought, or later."""
        async with self.making:
            old = time.monotonic() - self.made_at > PAGE_KEPT_S
            if not self.frames or old or not self._followed() or self.revision < newest:
                await self._make()
            return self.frames, self.revision

    async def _make(self) -> None:
        self.frames, self.revision = await in_thread(
            pages.frames_for, self.sandbox_id, None
        )
        self.made_at = time.monotonic()
        asyncio.get_running_loop().call_later(PAGE_KEPT_S, self._drop)

    def _followed(self) -> bool:
        """Put the diffs since behind the page; False when they do not join up.

        Nor do they where one rewrites history: whoever receives it asks for a page, and
        would be given the same one again, for as long as it is kept.
        """
        fresh = [m for m in self.recent if m.revision > self.revision]
        self.recent.clear()
        if not join(fresh, self.revision) or any(m.rewrites for m in fresh):
            return False
        if fresh:
            self.frames = [*self.frames, *frames_of(fresh)]
            self.revision = fresh[-1].revision
        return True

    def _drop(self) -> None:
        """Let go of a page that nobody asked for lately: pages are large."""
        if time.monotonic() - self.made_at >= PAGE_KEPT_S:
            self.frames = []
            self.recent.clear()


# ------------------------------------------------------------------------
# Diffs as the bus brings them, and what is made of several before they are sent.


#: Diffs that may wait for one client; beyond it gets a whole page instead.
MOST_WAITING = 256
#: This many at once are merged before they are sent.
MERGE_FROM = 3


class Message(NamedTuple):
    """A diff as it came from the bus: where it leads, and its JSON.

    `rewrites`: it gives the sandbox another past, which a page has to be asked for.
    """

    begin: int
    revision: int
    body: bytes
    rewrites: bool = False


def join(messages: Sequence[Message], revision: int) -> bool:
    """Return whether the diffs follow one another from `revision` on."""
    at = revision
    for message in messages:
        if message.begin != at:
            return False
        at = message.revision
    return True


def frames_of(messages: Sequence[Message]) -> list[str]:
    """Return the diffs as frames; many are merged into one."""
    if len(messages) < MERGE_FROM:
        return [message.body.decode() for message in messages]
    merged = diffs.merge([decode_step(message.body) for message in messages])
    return [encode_step(merged).decode()]


# ------------------------------------------------------------------------
# What a process receives of the message bus, and whether the bus answers.


#: A bus that was away is tried again after this long.
AGAIN_AFTER_S = 0.5
#: A look is as good as a new one for this long, and may take as long.
GOOD_FOR_S = 2.0
#: A group that nobody is in: what is sent to it costs one command.
_NOBODY = "nobody"

Take = Callable[[dict[str, Any]], None]


class Listener:
    """A group of the bus, heard until it is closed. Needs a running event loop.

    `listening` is set once messages arrive, or once it is known that they cannot: then
    whoever reads must look for itself.
    """

    def __init__(self, group: str, take: Take) -> None:
        self.group = group
        self.take = take
        self.listening = asyncio.Event()
        self._reader = asyncio.create_task(self._listen())

    @property
    def ended(self) -> bool:
        """Whether nothing is received any longer."""
        return self._reader.done()

    def close(self) -> None:
        """Stop listening."""
        self._reader.cancel()

    async def _listen(self) -> None:
        while True:
            try:
                await self._subscribe()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                logger.warning("the bus is away: %s", error)
                self.listening.set()
                await asyncio.sleep(AGAIN_AFTER_S)

    async def _subscribe(self) -> None:
        layer: Any = get_channel_layer()
        channel = await layer.new_channel("hub")
        await layer.group_add(self.group, channel)
        self.listening.set()
        try:
            while True:
                self.take(await layer.receive(channel))
        finally:
            await asyncio.shield(layer.group_discard(self.group, channel))


class _Look:
    """One question to the bus, and when it was asked."""

    def __init__(self, now: float) -> None:
        self.at = now
        self.answer = asyncio.create_task(_ask())


_looks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Look] = WeakKeyDictionary()


async def bus_problem() -> str:
    """Return why the bus does not answer, "" when it does; asked once for all callers."""
    loop = asyncio.get_running_loop()
    look = _looks.get(loop)
    if look is None or (look.answer.done() and loop.time() - look.at > GOOD_FOR_S):
        look = _looks[loop] = _Look(loop.time())
    return await asyncio.shield(look.answer)


async def _ask() -> str:
    layer: Any = get_channel_layer()
    try:
        await asyncio.wait_for(layer.group_send(_NOBODY, {"type": "ping"}), GOOD_FOR_S)
    except Exception as error:
        logger.warning("the bus is away: %s", error)
        return str(error) or type(error).__name__
    return ""
