"""A bus of the tests' own, on a socket that no running sandbox uses."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings

from sandbox.base import environment
from sandbox.process.celery import app
from sandbox.process.services import await_bus, bus_command

LOCAL = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
FOLDER = pytest.StashKey[Path]()


@dataclasses.dataclass
class Bus:
    """A running Valkey."""

    socket: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, retry=None)


def pytest_configure(config: pytest.Config) -> None:
    """Point the settings at a socket of this session before anybody reads them.

    Without the `valkey` fixture nothing listens there: a test that forgets to ask
    for it fails, and never talks to a sandbox that runs in the same checkout.
    """
    folder = Path(tempfile.mkdtemp(prefix="quotalab-bus-"))
    config.stash[FOLDER] = folder
    settings.BUS_URL = f"unix://{folder / 'bus.sock'}"
    [host] = settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    host["address"] = settings.BUS_URL
    # No thread holds the test database open after its test.
    settings.STREAM_CONNECTION_S = 0.0
    # Counters of requests are this process's own: most tests ask for no bus.
    for name in settings.CACHES:
        settings.CACHES[name] = {**LOCAL, "LOCATION": name}
    settings.CELERY_BROKER_URL = environment.broker(settings.BUS_URL)
    app.conf.broker_url = settings.CELERY_BROKER_URL


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.fixture(scope="session")
def bus_process(request: pytest.FixtureRequest) -> Iterator[Bus]:
    """One Valkey for the session, where the settings say that the bus is."""
    with running_bus(request.config.stash[FOLDER] / "bus.sock") as bus:
        yield bus


@pytest.fixture
def valkey(bus_process: Bus) -> Bus:
    """A bus with nothing on it."""
    bus_process.client().flushall()
    return bus_process


@pytest.fixture
def no_bus(settings: Any, tmp_path: Path) -> None:
    """A bus that is away, whatever other tests have started."""
    layer = settings.CHANNEL_LAYERS["default"]
    nowhere = {**layer["CONFIG"], "hosts": [f"unix://{tmp_path / 'nobody.sock'}"]}
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": nowhere}}


class running_bus:  # noqa: N801 - used as a `with` verb
    """Start a Valkey on `socket`, and end it when the block ends."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket

    def __enter__(self) -> Bus:
        process = subprocess.Popen(bus_command(self.socket), stdin=subprocess.DEVNULL)
        self.bus = Bus(self.socket, process)
        await_bus(self.bus.url)
        return self.bus

    def __exit__(self, *_: object) -> None:
        self.bus.process.terminate()
        self.bus.process.wait(5)
