"""One subscription per process and sandbox, fanned out to the clients in it.

A client has a pump. Who reads slowly gets diffs merged into one; who does not read at
all is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

from sandbox.live import pages, rights
from sandbox.live.bus import Listener
from sandbox.live.messages import frames_of, join
from sandbox.live.subscription import LOOK_EVERY_S, Client, SandboxSubscription
from sandbox.live.threads import in_thread
from sandbox.world.broadcast import PEOPLE

logger = logging.getLogger(__name__)

#: A client that takes nothing for this long is closed.
SEND_PATIENCE_S = 10.0
CLOSE_SLOW = 4408


class Hub:
    """The subscriptions of this process. Everything here runs in one event loop."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, SandboxSubscription] = {}
        self.people: Listener | None = None  # while anybody is here

    async def enter(self, sandbox_id: str, client: Client) -> None:
        """Join first, so that what is sent meanwhile is seen twice, never missed."""
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
