"""What this process keeps of sandboxes, and that it forgets with them.

Each collection is bounded. One thread looks which sandboxes were deleted or archived, by
whichever process, and drops what is kept of them everywhere.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from django.db import connection

from sandbox.base.memory import give_back
from sandbox.models import Sandbox

logger = logging.getLogger(__name__)

#: How often a process looks whether the sandboxes that it keeps are still there.
FORGET_EVERY_S = 10.0

V = TypeVar("V")


class Keeps(Protocol):
    """A collection of this process that keeps something of sandboxes."""

    def held(self) -> list[str]:
        """Return the sandboxes that something is kept of."""

    def forget(self, sandbox_id: str) -> None:
        """Drop what is kept of a sandbox that is gone for good."""

    def clear(self) -> None:
        """Drop everything."""


_all: list[Keeps] = []


def register(keeps: Keeps) -> None:
    """Let a collection be told of the sandboxes that are gone."""
    _all.append(keeps)


def collections() -> tuple[Keeps, ...]:
    """Return all collections of this process."""
    return tuple(_all)


class Kept(Generic[V]):
    """Values by a key that begins with the sandbox's id; those used last.

    They weigh at most `most` together, as `weigh` says of each; the newest stays whatever
    it weighs. `end` is called with each that is dropped.
    """

    def __init__(
        self,
        most: int,
        weigh: Callable[[V], int] = lambda _: 1,
        end: Callable[[V], None] = lambda _: None,
    ) -> None:
        self._lock = threading.Lock()
        self._making = [threading.Lock() for _ in range(16)]
        self._most, self._weigh, self._end = most, weigh, end
        self._values: OrderedDict[tuple[Hashable, ...], V] = OrderedDict()
        register(self)

    def making(self, sandbox_id: str) -> threading.Lock:
        """Return the lock to hold while a value of a sandbox is made or changed."""
        return self._making[hash(sandbox_id) % len(self._making)]

    def get(self, *key: Hashable) -> V | None:
        """Return the value of a key, used just now."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, value: V, *key: Hashable) -> V:
        """Keep a value; drop those that were not used for longest. Returns the value."""
        start_forgetting()
        gone = []
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            total = sum(map(self._weigh, self._values.values()))
            while total > self._most and len(self._values) > 1:
                gone.append(self._values.popitem(last=False)[1])
                total -= self._weigh(gone[-1])
        for oldest in gone:
            self._end(oldest)
        return value

    def made(self, make: Callable[[], V], *key: Hashable) -> V:
        """Return the value of a key; where it is not kept, one of those who ask makes it."""
        with self.making(str(key[0])):
            found = self.get(*key)
            return self.put(make(), *key) if found is None else found

    def take(self, *key: Hashable) -> V | None:
        """Return the value of a key, and keep it no more: who changes it puts it back."""
        with self._lock:
            return self._values.pop(key, None)

    def keys_of(self, sandbox_id: str) -> list[tuple[Any, ...]]:
        """Return the keys that something of a sandbox is kept by."""
        with self._lock:
            return [key for key in self._values if key[0] == sandbox_id]

    def held(self) -> list[str]:
        """Return the sandboxes that something is kept of."""
        with self._lock:
            return [str(sandbox_id) for sandbox_id in {key[0] for key in self._values}]

    def forget(self, sandbox_id: str) -> None:
        """Drop what is kept of a sandbox."""
        for key in self.keys_of(sandbox_id):
            found = self.take(*key)
            if found is not None:
                self._end(found)

    def clear(self) -> None:
        """Drop everything."""
        for sandbox_id in self.held():
            self.forget(sandbox_id)


def forget_all() -> None:
    """Drop everything that this process keeps."""
    for keeps in _all:
        keeps.clear()


def forget_deleted() -> int:
    """Drop what is kept of sandboxes that were deleted or archived, by whichever process.

    Returns how many; the memory that they took is the system's again. One query, none
    while nothing is held.
    """
    known = {sandbox_id for keeps in _all for sandbox_id in keeps.held()}
    if not known:
        return 0
    open_ = Sandbox.objects.filter(pk__in=known, archived_at=None)
    gone = known - set(open_.values_list("pk", flat=True))
    for sandbox_id in gone:
        for keeps in _all:
            keeps.forget(sandbox_id)
    if gone:
        give_back()
    return len(gone)


class _Forgetting:
    """The thread of this process; a fork starts its own."""

    def __init__(self) -> None:
        self._process = 0
        self._starting = threading.Lock()

    def start(self) -> None:
        """Start the thread of this process, unless it runs."""
        if self._process == os.getpid():
            return
        with self._starting:
            if self._process != os.getpid():
                self._process = os.getpid()
                threading.Thread(target=self._run, name="forget", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(FORGET_EVERY_S):
            try:
                forget_deleted()
            except Exception as error:  # whatever it is, the thread looks again
                logger.info("nothing was forgotten: %s", error)
            finally:
                connection.close()


start_forgetting = _Forgetting().start
