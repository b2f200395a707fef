"""Threads that ask the database for sockets and streams, apart from those of requests."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import DatabaseSyncToAsync

P = ParamSpec("P")
R = TypeVar("R")
_threads = ThreadPoolExecutor(4, thread_name_prefix="hub")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Ask the database in one of a few threads; sockets must not queue for one."""
    asked = DatabaseSyncToAsync(function, thread_sensitive=False, executor=_threads)
    answer: R = await asked(*args, **kwargs)
    return answer
