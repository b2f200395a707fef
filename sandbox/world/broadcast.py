"""Sending everyone what was committed, after it was committed.

One publisher per process: a thread with a loop and one connection to the bus.
A bus that is gone loses messages and nothing else; readers see the gap and
take what they missed from history.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from sandbox.base import counters
from sandbox.page.diffs import RevisionDiff, encode_step
from sandbox.process.services import bus_client

logger = logging.getLogger(__name__)

#: The group of what changed about people; every process that has sockets is in it.
PEOPLE = "people"
#: How long a tick may wait for the bus before it goes on without.
PATIENCE_S = 1.0


def group_of(sandbox_id: str) -> str:
    """Return the name of the group in which a sandbox's diffs travel."""
    return f"sandbox.{sandbox_id}"


def after_commit(
    sandbox_id: str, step: RevisionDiff, text: bytes | None = None
) -> None:
    """Send the diff once the running transaction has committed.

    `text` is what `encode_step` made of it, where that is known.
    """
    body = encode_step(step) if text is None else text
    message = {
        "type": "diff",
        "from": step.from_revision,
        "revision": step.revision,
        "rewrites": step.rewrites_history(),
        "body": body,
    }
    transaction.on_commit(lambda: _publish(sandbox_id, message), robust=True)


def is_watched(sandbox_id: str) -> bool:
    """Return whether any process has a socket open on the sandbox.

    Also true when the bus does not answer: then nobody knows.
    """
    if _is_alone():
        return False
    layer: Any = settings.CHANNEL_LAYERS["default"]
    channel = f"{layer['CONFIG']['prefix']}__group__{group_of(sandbox_id)}"
    try:
        # The name that the layer gives a group on the bus.
        answer: Any = _bus().pubsub_numsub(channel)
    except (redis.RedisError, OSError) as error:
        logger.debug("nobody knows who watches: %s", error)
        return True
    return any(count for _, count in answer)


@lru_cache(maxsize=1)
def _bus_of(_pid: int) -> redis.Redis:
    return bus_client(settings.BUS_URL)


def _bus() -> redis.Redis:
    """Return this process's connection; a forked child needs its own."""
    return _bus_of(os.getpid())


def gone(sandbox_id: str) -> None:
    """Announce that a sandbox was deleted, once that is committed."""
    transaction.on_commit(lambda: _publish(sandbox_id, {"type": "gone"}), robust=True)


def rights_changed(sandbox_id: str) -> None:
    """Have the rights of whoever looks checked again, once the change is committed."""
    transaction.on_commit(lambda: _publish(sandbox_id, {"type": "rights"}), robust=True)


def person_changed(user_id: int) -> None:
    """Have the rights of all streams of a person checked, once the change is committed."""
    message = {"type": "person", "user": user_id}
    transaction.on_commit(lambda: _publish("", message, PEOPLE), robust=True)


def news(sandbox_id: str, body: Callable[[], bytes]) -> None:
    """Send what is no part of the world (a lesson), made once that is committed."""
    transaction.on_commit(
        lambda: _publish(sandbox_id, {"type": "news", "body": body()}), robust=True
    )


def _publish(sandbox_id: str, message: dict[str, Any], group: str = "") -> None:
    layer = get_channel_layer()
    if layer is None or _is_alone():
        return
    try:
        _publisher().run(layer.group_send(group or group_of(sandbox_id), message))
    except Exception as error:
        counters.count("sends_failed")
        logger.warning("a diff was not sent: %s", error, extra={"sandbox": sandbox_id})


def _is_alone() -> bool:
    """Return whether no web process runs that could pass anything on.

    In the default run it has the bus as its child, whose socket is a file.
    """
    address = settings.BUS_URL.removeprefix("unix://")
    return not settings.SERVER and not os.path.exists(address)


class _Publisher:
    """A thread with a running loop, made once per process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        threading.Thread(
            target=self.loop.run_forever, name="broadcast", daemon=True
        ).start()

    def run(self, sending: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine to its end, or give up after PATIENCE_S."""
        future = asyncio.run_coroutine_threadsafe(sending, self.loop)
        try:
            future.result(PATIENCE_S)
        except TimeoutError:
            future.cancel()
            raise


_lock = threading.Lock()
_present: _Publisher | None = None


def _publisher() -> _Publisher:
    """Return this process's publisher; a forked child needs its own."""
    global _present
    with _lock:
        if _present is None or _present.pid != os.getpid():
            _present = _Publisher()
        return _present
