"""From commit to receipt: 200 sockets on one sandbox at four diffs a second.

Run `./dev bench tests/bench/bench_sockets.py`. The aim: 95% within 250 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import statistics
import sys
import time
from datetime import datetime
from typing import Any

import pytest
import websockets

from tests.services.house import House

CLIENTS = 200
SECONDS = 10.0
TICKS_PER_S = 4
AIM_MS = 250.0


class Watcher:
    """Which revision came when, to any client."""

    def __init__(self) -> None:
        self.receipts: list[tuple[int, float]] = []  # revision, Unix seconds
        self.gaps = 0

    async def watch(self, url: str, until: float) -> None:
        async with websockets.connect(url, max_size=None) as socket:
            await socket.send('{"type":"hello","since":null}')
            at = json.loads(await socket.recv())["revision"]
            while (left := until - time.monotonic()) > 0:
                try:
                    frame = await asyncio.wait_for(socket.recv(), left)
                except TimeoutError:
                    return
                now = time.time()
                message = json.loads(frame)
                self.gaps += message["from"] != at
                at = message["revision"]
                self.receipts.append((at, now))


async def run(house: House, path: str, sandbox: str) -> Watcher:
    watcher = Watcher()
    url = f"{house.url.replace('http', 'ws')}/ws/sandboxes/{sandbox}"
    until = time.monotonic() + SECONDS + 20
    tasks = [asyncio.create_task(watcher.watch(url, until)) for _ in range(CLIENTS)]
    await asyncio.sleep(18)
    play: dict[str, Any] = {"speed": TICKS_PER_S}
    await asyncio.to_thread(house.post, f"{path}/actions/play", play)
    await asyncio.gather(*tasks)
    return watcher


@pytest.mark.bench
def test_two_hundred_sockets_are_in_step(tmp_path):
    with House(tmp_path / "house") as house:
        made = house.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
        path = f"/api/v1/sandboxes/{made['id']}"
        watcher = asyncio.run(run(house, path, made["id"]))
        commits = committed(house, made["id"])
    delays = sorted((at - commits[n]) * 1000 for n, at in watcher.receipts)
    p95 = delays[int(0.95 * len(delays))]
    sys.stdout.write(
        f"\n{CLIENTS} sockets, {len(delays)} frames, from commit to receipt: "
        f"p50 {statistics.median(delays):.1f} ms, p95 {p95:.1f} ms, "
        f"gaps {watcher.gaps}\n"
    )
    assert watcher.gaps == 0
    assert len(delays) > CLIENTS * SECONDS * TICKS_PER_S * 0.8
    assert p95 < AIM_MS


def committed(house: House, sandbox: str) -> dict[int, float]:
    """Return when each revision was written, just before its commit."""
    file = f"{house.environment['QUOTALAB_DATA']}/quotalab.sqlite3"
    query = "SELECT number, at FROM sandbox_revision WHERE sandbox_id = ?"
    with contextlib.closing(sqlite3.connect(file)) as database:
        rows = database.execute(query, [sandbox]).fetchall()
    return {n: datetime.fromisoformat(f"{at}+00:00").timestamp() for n, at in rows}
