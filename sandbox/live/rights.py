"""The right to a stream: checked again for as long as the stream lasts, in one way for all.

A socket and a watch are opened once and may stay for hours, while rights end: a member
is removed, a person stopped, a token revoked or expired, a sandbox private again. Each
stream waits for `lost` beside its work and ends when that returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict

from sandbox.live.people import Asker
from sandbox.live.threads import in_thread
from sandbox.models import Sandbox

logger = logging.getLogger(__name__)

#: A right that ended ends its streams after no more than this and one query.
CHECK_EVERY_S = 4.0

_changed: dict[str, set[asyncio.Event]] = defaultdict(set)


def who_sees(asker: Asker, sandbox_id: str) -> int | None:
    """Return the id of the person if they may see the sandbox now. Two or three queries."""
    user = asker.person()
    # A stranger's question takes as long as anybody's.
    seen = Sandbox.objects.visible_to(user).filter(pk=sandbox_id, archived_at=None)
    return user.pk if seen.exists() and user.is_authenticated else None


async def lost(asker: Asker, sandbox_id: str) -> str:
    """Wait until the right ends; return why, in a sentence.

    A check that fails ends it too: who cannot be checked receives nothing.
    """
    changed = asyncio.Event()
    _changed[sandbox_id].add(changed)
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), CHECK_EVERY_S)
            changed.clear()
            if await in_thread(who_sees, asker, sandbox_id) is None:
                return "the sandbox is not there for you any more"
    except Exception as error:
        logger.warning(
            "a right could not be checked: %s", error, extra={"sandbox": sandbox_id}
        )
        return "your right could not be checked; connect again"
    finally:
        _changed[sandbox_id].discard(changed)
        if not _changed[sandbox_id]:
            del _changed[sandbox_id]


def note_changed(sandbox_id: str) -> None:
    """Check the streams of a sandbox now. Called in the event loop, by the bus."""
    for changed in _changed.get(sandbox_id, ()):
        changed.set()
