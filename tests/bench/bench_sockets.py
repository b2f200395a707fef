"""From commit to receipt: 200 sockets and two browsers, and a thousand sockets.

Run `./dev bench tests/bench/bench_sockets.py`. One sandbox at four diffs a second,
and the thousand at one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
import websockets

from tests.bench.size import sized
from tests.services.browser import chromium
from tests.services.default_run import DefaultRun, wait_for

SECONDS = sized(10.0, 1.0)
CLIENTS, CROWD = sized(200, 3), sized(1000, 4)
SOCKETS, BROWSERS = "200 sockets", "200 sockets and two browsers"


class Watcher:
    """Which revision came when, to any client."""

    def __init__(self) -> None:
        self.receipts: list[tuple[int, float]] = []  # revision, Unix seconds
        self.gaps = 0
        self.open = 0
        self.until = math.inf  # monotonic seconds

    async def watch(self, url: str) -> None:
        async with websockets.connect(url, max_size=None, open_timeout=120) as socket:
            await socket.send('{"type":"hello","since":null}')
            at = json.loads(await socket.recv())["revision"]
            self.open += 1
            while time.monotonic() < self.until:
                try:
                    frame = await asyncio.wait_for(socket.recv(), 1.0)
                except TimeoutError:
                    continue
                now = time.time()
                message = json.loads(frame)
                if message["type"] != "diff":
                    continue
                self.gaps += message["from"] != at
                at = message["revision"]
                self.receipts.append((at, now))


async def run(
    default_run: DefaultRun, path: str, *, clients: int, speed: float, join_s: float
) -> Watcher:
    watcher = Watcher()
    sandbox = path.rpartition("/")[2]
    url = f"{default_run.url.replace('http', 'ws')}/ws/sandboxes/{sandbox}"
    tasks = []
    for n in range(clients):
        tasks.append(asyncio.create_task(watcher.watch(url)))
        if n % 100 == 99:
            await asyncio.sleep(0.5)  # a crowd, not all in one instant
    await asyncio.to_thread(until_open, watcher, clients, join_s)
    play: dict[str, Any] = {"speed": speed}
    await asyncio.to_thread(default_run.post, f"{path}/actions/play", play)
    watcher.until = time.monotonic() + SECONDS
    await asyncio.gather(*tasks)
    return watcher


def until_open(watcher: Watcher, clients: int, join_s: float) -> None:
    wait_for(lambda: watcher.open == clients, "every socket's page", join_s)


def measure(
    default_run: DefaultRun, name: str, *, clients: int, speed: float, join_s: float
):
    """Print how long diffs took to reach the sockets of a new sandbox."""
    made = default_run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
    path = f"/api/v1/sandboxes/{made['id']}"
    with looked_at(default_run, made["id"]) if name == BROWSERS else nothing():
        watcher = asyncio.run(
            run(default_run, path, clients=clients, speed=speed, join_s=join_s)
        )
    commits = committed(default_run, made["id"])
    delays = sorted((at - commits[n]) * 1000 for n, at in watcher.receipts)
    p95 = delays[int(0.95 * len(delays))]
    sys.stdout.write(
        f"\n{name}: {len(delays)} frames, from commit to receipt: "
        f"p50 {statistics.median(delays):.1f} ms, p95 {p95:.1f} ms, "
        f"gaps {watcher.gaps}, web server {memory_mib(default_run)} MiB\n"
    )
    assert watcher.gaps == 0
    return p95, len(delays)


def memory_mib(default_run: DefaultRun) -> int:
    return round(default_run.process.memory_full_info().uss / 2**20)


@contextlib.contextmanager
def nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def looked_at(default_run: DefaultRun, sandbox: str) -> Iterator[None]:
    """Have two browsers, each with a process of its own, look at the sandbox."""
    code = _BROWSER.format(path=chromium(), url=f"{default_run.url}/s/{sandbox}")
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            page = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            stack.callback(page.wait, 20)
            stack.callback(page.communicate)  # its input ends, and so does it
            assert page.stdout is not None
            assert page.stdout.readline().strip() == b"open"
        yield


_BROWSER = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    words = ["--no-sandbox", "--disable-dev-shm-usage"]
    browser = playwright.chromium.launch(executable_path={path!r}, args=words)
    page = browser.new_page(viewport={{"width": 1440, "height": 900}})
    page.goto({url!r})
    page.wait_for_load_state("networkidle", timeout=60_000)
    print("open", flush=True)
    while not page.is_closed():
        page.wait_for_timeout(200)
        import select
        if select.select([sys.stdin], [], [], 0)[0]:
            break
    browser.close()
"""


@pytest.mark.bench
def test_two_hundred_sockets_are_in_step(bench_run):
    _, frames = measure(bench_run, SOCKETS, clients=CLIENTS, speed=4, join_s=60)
    assert frames


@pytest.mark.bench
def test_two_hundred_sockets_and_two_browsers_are_in_step(bench_run):
    if chromium() is None:
        pytest.skip("no Chromium on this machine")
    _, frames = measure(bench_run, BROWSERS, clients=CLIENTS, speed=4, join_s=60)
    assert frames


@pytest.mark.bench
def test_a_thousand_sockets_stay_open(bench_run):
    _, frames = measure(bench_run, "1,000 sockets", clients=CROWD, speed=1, join_s=120)
    assert frames


def committed(default_run: DefaultRun, sandbox: str) -> dict[int, float]:
    """Return when each revision was written, just before its commit."""
    file = f"{default_run.environment['QUOTALAB_DATA']}/quotalab.sqlite3"
    query = "SELECT number, at FROM sandbox_revision WHERE sandbox_id = ?"
    with contextlib.closing(sqlite3.connect(file)) as database:
        rows = database.execute(query, [sandbox]).fetchall()
    return {n: datetime.fromisoformat(f"{at}+00:00").timestamp() for n, at in rows}
