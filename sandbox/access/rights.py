"""The right to a stream: checked again for as long as the stream lasts, in one way for all.

A socket and a watch are opened once and may stay for hours, while rights end: a member
is removed, a person stopped, a token revoked or expired, a sandbox private again. Each
stream waits for `lost` beside its work and ends when that returns. Streams that one
asker has of one sandbox are checked together.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.access.people import Asker
from sandbox.base.threads import one_of_many
from sandbox.models import Sandbox
from sandbox.process.schema_version import problem_now

logger = logging.getLogger(__name__)

#: A right that ended ends its streams after no more than this and one query.
CHECK_EVERY_S = 4.0


@dataclass(eq=False, slots=True)
class _Watched:
    """The streams that one asker has of one sandbox, and their common check."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    check: asyncio.Task[str] = field(init=False)
    streams: int = 0
    person: int | None = None  # a user's id, from the first check on


_Key = tuple[asyncio.AbstractEventLoop, Asker, str]
_watched: dict[_Key, _Watched] = {}


def who_sees(asker: Asker, sandbox_ids: Sequence[str]) -> dict[str, int]:
    """Return the id of the person for each sandbox that they may see now.

    Two or three queries, of however many. Nobody sees anything through a program that
    is older than the database.
    """
    if problem_now():
        return {}
    user = asker.person()
    # A stranger's question takes as long as anybody's.
    seen = Sandbox.objects.visible_to(user).filter(pk__in=sandbox_ids, archived_at=None)
    found = set(seen.values_list("pk", flat=True))
    return dict.fromkeys(found, user.pk) if user.is_authenticated else {}


async def who_streams(asker: Asker, sandbox_id: str) -> int | None:
    """Return the id of the user of a stream; many callers are answered by one query."""
    return await one_of_many(who_sees, asker, item=sandbox_id)


async def lost(asker: Asker, sandbox_id: str) -> str:
    """Wait until the person may no longer see the sandbox; return the reason as a sentence.

    A check that fails ends it too: who cannot be checked receives nothing.
    """
    key = (asyncio.get_running_loop(), asker, sandbox_id)
    watched = _watched.get(key)
    if watched is None:
        watched = _watched[key] = _Watched()
        watched.check = asyncio.create_task(_check(key, watched))
    watched.streams += 1
    try:
        return await asyncio.shield(watched.check)
    finally:
        watched.streams -= 1
        if not watched.streams:
            watched.check.cancel()
            _forget(key, watched)


def _forget(key: _Key, watched: _Watched) -> None:
    if _watched.get(key) is watched:
        del _watched[key]


async def _check(key: _Key, watched: _Watched) -> str:
    _, asker, sandbox_id = key
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                # `wait_for` may lose that it was cancelled when a notice comes then.
                async with asyncio.timeout(CHECK_EVERY_S):
                    await watched.changed.wait()
            watched.changed.clear()
            watched.person = await who_streams(asker, sandbox_id)
            if watched.person is None:
                return "you can no longer see this sandbox"
    except Exception as error:
        logger.warning(
            "a right could not be checked: %s", error, extra={"sandbox": sandbox_id}
        )
        return "your right could not be checked; connect again"
    finally:
        _forget(key, watched)  # who comes now is checked anew


def note_changed(sandbox_id: str) -> None:
    """Check the streams of a sandbox now. Called in the event loop, by the bus."""
    for (_, _, watched_id), watched in _watched.items():
        if watched_id == sandbox_id:
            watched.changed.set()


def note_person(user_id: int) -> None:
    """Check the streams of a person now: stopped, signed out, or a token revoked."""
    for watched in _watched.values():
        if watched.person in (None, user_id):
            watched.changed.set()
