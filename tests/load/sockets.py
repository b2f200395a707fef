"""Sockets of pages, held open by one thread, as whoever a session is of."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import websockets

from tests.services.default_run import wait_for
from tests.services.server import ServerRun

_SESSION = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
user = User.objects.get(username="{name}")
store = SessionStore()
store[SESSION_KEY] = user.pk
store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
store[HASH_SESSION_KEY] = user.get_session_auth_hash()
store.save()
print(store.session_key)
"""


@dataclass
class Sockets:
    """What came to each socket, by its number."""

    started_s: dict[int, float] = field(default_factory=dict)  # until all is there
    frames: dict[int, int] = field(default_factory=dict)  # diffs after that
    over: bool = False


@contextlib.contextmanager
def opened(
    run: ServerRun, name: str, sandboxes: Sequence[str], *, per_s: float
) -> Iterator[Sockets]:
    """Hold a socket of each of the sandboxes, opened so many a second."""
    code = _SESSION.format(name=name)
    key = run.manage("shell", "--verbosity", "0", "-c", code).strip()
    kept = Sockets()
    thread = threading.Thread(
        target=lambda: asyncio.run(_hold(run.url, key, sandboxes, per_s, kept))
    )
    thread.start()
    try:
        wait_for(lambda: len(kept.started_s) == len(sandboxes), "every socket", 600)
        yield kept
    finally:
        kept.over = True
        thread.join()


async def _hold(
    url: str, key: str, sandboxes: Sequence[str], per_s: float, kept: Sockets
) -> None:
    base = url.replace("http", "ws", 1)
    tasks = []
    for number, one in enumerate(sandboxes):
        place = f"{base}/ws/sandboxes/{one}"
        tasks.append(asyncio.create_task(_listen(place, url, key, number, kept)))
        await asyncio.sleep(1 / per_s)
    await asyncio.gather(*tasks)


async def _listen(place: str, url: str, key: str, number: int, kept: Sockets) -> None:
    begun = time.monotonic()
    async with websockets.connect(
        place,
        origin=websockets.Origin(url),
        additional_headers={"Cookie": f"sessionid={key}"},
        max_size=None,
        open_timeout=120,
        ping_interval=None,  # one thread holds all ends: it may be too busy
    ) as socket:
        await socket.send('{"type":"hello","since":null}')
        await socket.recv()
        kept.started_s[number] = time.monotonic() - begun
        kept.frames[number] = 0
        while not kept.over:
            with contextlib.suppress(TimeoutError):
                message = json.loads(await asyncio.wait_for(socket.recv(), 1.0))
                kept.frames[number] += message["type"] == "diff"
