"""Threads that ask the database for sockets and streams, apart from those of requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import SyncToAsync
from django.conf import settings
from django.db import close_old_connections, connections

P = ParamSpec("P")
R = TypeVar("R")
_threads = ThreadPoolExecutor(4, thread_name_prefix="hub")
#: What is being asked now; who asks the same meanwhile shares the answer.
_asked: dict[Any, asyncio.Task[Any]] = {}
#: How long questions of one kind about different things are collected.
COLLECT_S = 0.05


@dataclass(eq=False, slots=True)
class _Batch:
    """Things that are asked about together."""

    items: set[str] = field(default_factory=set)
    answer: asyncio.Task[Mapping[str, Any]] = field(init=False)


_batches: dict[Any, _Batch] = {}


class _WithConnection(SyncToAsync[Any, Any]):
    """Calls of these few threads keep their connection: opening one costs more than a query."""

    def thread_handler(self, loop: Any, *args: Any, **kwargs: Any) -> Any:
        close_old_connections()
        try:
            return super().thread_handler(loop, *args, **kwargs)
        finally:
            until = time.monotonic() + settings.STREAM_CONNECTION_S
            for connection in connections.all(initialized_only=True):
                if connection.connection is not None and connection.close_at:
                    connection.close_at = max(connection.close_at, until)
            close_old_connections()


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a database call in one of a few threads, so that sockets do not wait for a single one."""
    asked = _WithConnection(function, thread_sensitive=False, executor=_threads)
    answer: R = await asked(*args, **kwargs)
    return answer


async def once_for_all(function: Callable[..., R], *args: Any) -> R:
    """Run as `in_thread` does, once for all callers that ask the same at the same time."""
    key = (asyncio.get_running_loop(), function, args)
    task = _asked.get(key)
    if task is None:
        task = _asked[key] = asyncio.create_task(in_thread(function, *args))
        task.add_done_callback(lambda done: _answered(key, done))
    answer: R = await asyncio.shield(task)
    return answer


async def one_of_many(
    function: Callable[..., Mapping[str, R]], *shared: Any, item: str
) -> R | None:
    """Ask about one thing, in one call together with all that are asked at that time.

    `function` takes what is shared and a list of things; it leaves out those that it has
    no answer for, which is None here. Thousands of sockets cost a few queries, not each its own.
    """
    key = (asyncio.get_running_loop(), function, shared)
    batch = _batches.get(key)
    if batch is None:
        batch = _batches[key] = _Batch()
        batch.answer = asyncio.create_task(_ask(key, batch))
        batch.answer.add_done_callback(_seen)
    batch.items.add(item)
    answers: Mapping[str, R] = await asyncio.shield(batch.answer)
    return answers.get(item)


async def _ask(key: Any, batch: _Batch) -> Mapping[str, Any]:
    """Wait for others, then ask; who comes after that is in the next batch."""
    await asyncio.sleep(COLLECT_S)
    del _batches[key]
    _, function, shared = key
    ask: Callable[..., Mapping[str, Any]] = function
    return await in_thread(ask, *shared, sorted(batch.items))


def _answered(key: Any, task: asyncio.Task[Any]) -> None:
    del _asked[key]
    _seen(task)


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # who asked has it, or has gone
