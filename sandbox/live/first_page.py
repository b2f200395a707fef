"""The first page of a sandbox: made from history once, for all who open it at one time.

For as long as it is kept, the diffs that the bus brings are put behind it, so that a
class that opens an address together costs the database one page.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from sandbox.live import pages
from sandbox.live.messages import MOST_WAITING, Message, frames_of, join
from sandbox.live.threads import in_thread

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
