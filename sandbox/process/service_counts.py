"""Counts of all processes together, on the bus: brought there every two seconds.

Counters are sums in one hash and never go back but with the bus itself, as Prometheus
expects of a counter that begins anew. Sizes are a key per process that ends with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import threading
from collections import Counter
from typing import Any

import redis
from django.conf import settings

from sandbox.base import counters
from sandbox.process.celery import EXPERIMENTS, app
from sandbox.process.services import bus_client

logger = logging.getLogger(__name__)

COUNTS = "quotalab:counts"
SIZES = "quotalab:sizes:"
FLUSH_EVERY_S = 2.0
#: The sizes of a process that ended are gone after so long.
KEPT_S = 15

_started_in = 0  # process id
_starting = threading.Lock()


def start() -> None:
    """Bring this process's counts to the bus from now on; a fork starts its own."""
    global _started_in
    with _starting:
        if _started_in != os.getpid():
            _started_in = os.getpid()
            threading.Thread(target=_flush_on, name="counts", daemon=True).start()


def _flush_on() -> None:
    bus, pause = bus_client(settings.BUS_URL), threading.Event()
    while not pause.wait(FLUSH_EVERY_S):
        flush(bus)


def flush(bus: redis.Redis) -> None:
    """Bring away what was counted; a bus that is away gets it later."""
    counts, sizes = counters.take()
    own = f"{SIZES}{platform.node()}:{os.getpid()}"
    try:
        with bus.pipeline(transaction=True) as ask:
            for name, value in counts.items():
                ask.hincrbyfloat(COUNTS, name, value)
            if any(sizes.values()):
                ask.hset(own, items=[word for pair in sizes.items() for word in pair])
                ask.expire(own, KEPT_S)
            else:
                ask.delete(own)
            ask.execute()
    except (redis.RedisError, OSError) as problem:
        counters.give_back(counts)
        logger.debug("counts wait for the bus", extra={"problem": problem})


def read() -> tuple[dict[str, float], Counter[str], dict[str, int]] | None:
    """Return counts, sizes, and messages per queue; None while the bus is away."""
    bus = bus_client(settings.BUS_URL)
    try:
        flush(bus)
        counts = {k.decode(): float(v) for k, v in _hash(bus, COUNTS).items()}
        sizes: Counter[str] = Counter()
        for key in bus.scan_iter(f"{SIZES}*"):
            sizes.update({k.decode(): int(v) for k, v in _hash(bus, key).items()})
        names = (app.conf.task_default_queue, EXPERIMENTS)
        return counts, sizes, {name: int(_length(bus, name)) for name in names}
    except (redis.RedisError, OSError):
        return None
    finally:
        with contextlib.suppress(redis.RedisError, OSError):
            bus.close()


def _hash(bus: redis.Redis, key: Any) -> Any:
    return bus.hgetall(key)


def _length(bus: redis.Redis, name: str) -> Any:
    return bus.llen(name)
