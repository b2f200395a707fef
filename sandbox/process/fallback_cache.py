"""The cache of the server run: Redis, and this process's memory while Redis is away.

What is kept there are counts for limits and sizes on disk: counted in one process they
are too lenient, not wrong, and nobody is locked out by a bus that is gone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import redis
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

logger = logging.getLogger(__name__)

#: While it is away, Redis is asked again, and the log reminded, this seldom.
ASK_AGAIN_S = 5.0


class FallbackCache(RedisCache):
    """Redis, or this process alone; every operation answers."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        own = {"max_entries": self._max_entries}
        self._local = LocMemCache(f"fallback-{self.key_prefix}", own)
        self._away_until = 0.0

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self._away_until:
            try:
                return getattr(super(), name)(*args, **kwargs)
            except (redis.RedisError, OSError) as problem:
                self._away_until = time.monotonic() + ASK_AGAIN_S
                logger.warning(
                    "Redis is away; limits are counted in this process alone",
                    extra={"problem": problem},
                )
        return getattr(self._local, name)(*args, **kwargs)


def _delegated(name: str) -> Callable[..., Any]:
    def operation(self: FallbackCache, *args: Any, **kwargs: Any) -> Any:
        return self._ask(name, *args, **kwargs)

    operation.__name__ = name
    return operation


for _name in (
    "add",
    "get",
    "set",
    "touch",
    "delete",
    "get_many",
    "has_key",
    "incr",
    "set_many",
    "delete_many",
    "clear",
):
    setattr(FallbackCache, _name, _delegated(_name))
