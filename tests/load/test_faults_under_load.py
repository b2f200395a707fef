"""Faults while much goes on: readers that do not read, and SIGTERM of everything.

`./dev soak tests/load/test_faults_under_load.py`; docs/faults.md has the outcomes.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import signal
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest
import websockets

from tests.builders import flavor
from tests.faults.test_killed_runs import TICKS, Run
from tests.load.asking import Asking, with_token
from tests.services.default_run import DefaultRun, wait_for
from tests.services.server import COMMANDS, as_here, running_server, started

pytestmark = pytest.mark.soak

WRITERS = 4
READERS, SLOW = 20, 40
HELLO = '{"type":"hello","since":null}'


async def read_on(url: str, seen: list[tuple[int, int]], stop: asyncio.Event) -> None:
    async with websockets.connect(url, max_size=None, open_timeout=120) as socket:
        await socket.send(HELLO)
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                frame = json.loads(await asyncio.wait_for(socket.recv(), 1.0))
                if frame["type"] == "diff":
                    seen.append((frame["from"], frame["revision"]))


async def take_nothing(url: str, stop: asyncio.Event) -> int | None:
    """Say hello and read no more; return the code that the socket was closed with."""
    async with websockets.connect(
        url, max_size=None, max_queue=1, open_timeout=120, ping_interval=None
    ) as socket:
        await socket.send(HELLO)
        socket.transport.pause_reading()
        await stop.wait()
        socket.transport.resume_reading()
        with contextlib.suppress(websockets.ConnectionClosed, TimeoutError):
            while True:
                await asyncio.wait_for(socket.recv(), 5)
        return socket.close_code


async def _crowd(run: DefaultRun, path: str, seconds: float):
    url = f"{run.url.replace('http', 'ws')}/ws/sandboxes/{path.rpartition('/')[2]}"
    stop, seen = asyncio.Event(), [[] for _ in range(READERS)]
    tasks = [asyncio.create_task(read_on(url, one, stop)) for one in seen]
    slow = [asyncio.create_task(take_nothing(url, stop)) for _ in range(SLOW)]
    await asyncio.sleep(seconds)
    stop.set()
    await asyncio.gather(*tasks)
    return seen, await asyncio.gather(*slow)


def web_mib(run: DefaultRun) -> int:
    return round(run.process.memory_full_info().uss / 2**20)


def test_who_does_not_read_holds_up_nobody_and_little_memory(tmp_path):
    with DefaultRun(tmp_path / "run") as run:
        made = run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
        path = f"/api/v1/sandboxes/{made['id']}"
        before = web_mib(run)
        run.post(f"{path}/actions/play", {"speed": 0})
        seen, codes = asyncio.run(_crowd(run, path, 30))
        figures = {
            "frames": sum(map(len, seen)),
            "slowClosed": sum(code == 4408 for code in codes),
            "webMiB": [before, web_mib(run)],
        }
        assert "Traceback" not in run.says()
    sys.stdout.write(f"\nslow readers: {json.dumps(figures)}\n")
    for one in seen:
        assert one
        assert all(a[1] == b[0] for a, b in itertools.pairwise(one))
    assert figures["webMiB"][1] < before + 150


def test_sigterm_of_everything_under_load_loses_nothing(tmp_path):
    with DefaultRun(tmp_path / "calm") as calm:
        run = Run(calm)
        run.start()
        expected = run.hash()
    with DefaultRun(tmp_path / "run") as first:
        runs = [Run(first) for _ in range(4)]
        for one in runs:
            one.start()
        runs[0].await_tick(TICKS // 3)
        begun = time.monotonic()
        for process in (*first.family(), first.process):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGTERM)
        wait_for(lambda: first.process.poll() is not None, "the end", 60)
        ended_s = time.monotonic() - begun
    with DefaultRun(first.folder) as again:
        for one in runs:
            one.default_run = again
        hashes = {one.hash() for one in runs}
        ticks = [one.ticks_in_history() for one in runs]
    sys.stdout.write(f"\nSIGTERM: ended in {ended_s:.1f} s\n")
    assert hashes == {expected}
    assert all(found == sorted(set(found)) for found in ticks)


def write_on(
    run: Asking, path: str, who: int, noted: list[str], stop: threading.Event
) -> None:
    """Add flavors, one after the other; note what was acknowledged."""
    for n in itertools.count():
        name = f"written-{who}-{n}"
        with contextlib.suppress(OSError):  # refused or cut off: not acknowledged
            run.post(f"{path}/actions/import", {"objects": [flavor(name)]})
            noted.append(name)
        if stop.wait(0.05):
            return


def parts_of_server() -> list[psutil.Process]:
    """Return web, worker and clock, with the worker's own processes."""
    found = []
    for child in psutil.Process().children():
        words = " ".join(child.cmdline())
        if "uvicorn" in words or "manage.py" in words:
            found += [child, *child.children(recursive=True)]
    return found


@contextlib.contextmanager
def writing(run: Asking, path: str) -> Iterator[list[str]]:
    noted: list[str] = []
    stop = threading.Event()
    writers = [
        threading.Thread(target=write_on, args=(run, path, who, noted, stop))
        for who in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    try:
        yield noted
    finally:
        stop.set()
        for writer in writers:
            writer.join(130)


def test_sigterm_of_a_server_loses_no_edit_that_it_acknowledged(postgres, tmp_path):
    with running_server(postgres, tmp_path) as server, contextlib.ExitStack() as stack:
        asking = with_token(server)
        expected = Run(asking)
        expected.start()
        wanted = expected.hash()
        quiet = [Run(asking) for _ in range(3)]
        for one in quiet:
            one.start()
        path = Run(asking).path
        with writing(asking, path) as noted:
            wait_for(lambda: len(noted) > 10 * WRITERS, "edits")
            quiet[0].await_tick(TICKS // 3)
            begun = time.monotonic()
            parts = parts_of_server()
            for process in parts:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.terminate()
            gone, alive = psutil.wait_procs(parts, timeout=60)
            ended_s = time.monotonic() - begun
        port = server.url.rpartition(":")[2]
        for name, command in COMMANDS.items():
            stack.enter_context(
                started(f"{name}-again", as_here(command, port), server)
            )
        wait_for(server.ready, "the server again")
        hashes = {one.hash() for one in quiet}
        kind = "apis/kueue.x-k8s.io/v1beta2/resourceflavors"
        items = asking.get(f"{path}/{kind}")["items"]
        lost = set(noted) - {item["metadata"]["name"] for item in items}
        figures = {"edits": len(noted), "lost": len(lost), "endedS": round(ended_s, 1)}
    sys.stdout.write(f"\nSIGTERM of a server: {json.dumps(figures)}\n")
    assert (alive, len(gone)) == ([], len(parts))
    assert (hashes, lost) == ({wanted}, set())
