"""What a process receives of the message bus, and whether the bus answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)

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
