"""Thousands of sandboxes that all play, sockets on them, and 1, 2, 4 worker processes.

Run `./dev bench tests/bench/bench_scale.py`; SCALE_SANDBOXES (5000), SCALE_SOCKETS (2000),
SCALE_SECONDS (20). Figures are printed and never asserted; docs/scale.md has them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
import redis
import websockets

from tests.bench.size import sized, some
from tests.services import migrated
from tests.services.default_run import ROOT, DefaultRun, wait_for

SANDBOXES = int(os.environ.get("SCALE_SANDBOXES", sized("5000", "4")))
SOCKETS = int(os.environ.get("SCALE_SOCKETS", sized("2000", "5")))
SECONDS = float(os.environ.get("SCALE_SECONDS", sized("20", "1")))
#: Demand of these is more than two cores give: they ask for four ticks a second each.
FEW = sized(100, 4)
TABLES = ("revision", "event", "diff", "sample", "checkpoint")

_MAKE = """
import sys, django
django.setup()
from django.db import transaction
from sandbox import actions
from sandbox.access.people import local_user
from sandbox.models import Sandbox
from sandbox.world import commits
from tests.builders import cluster_queue, flavor, job, local_queue
from tests.sandbox.conftest import text_of
commits._publish = lambda *_: None
jobs = [job(f"j-{n}", queue="q", cpu=1, runtime=f"{3 + n}s", recreate="true") for n in range(4)]
text = text_of(flavor(), cluster_queue("c", cpu=2), local_queue("q", cluster_queue="c"), *jobs)
who = local_user()
most = int(sys.argv[1])
for start in range(0, most, 100):
    with transaction.atomic():
        for seed in range(start, min(start + 100, most)):
            actions.do_create(who, files=[("w.yaml", text)], seed=seed)
Sandbox.objects.update(playing=True, speed=float(sys.argv[2]))
"""


def made(folder: Path, count: int, speed: float = 1.0) -> None:
    """Put sandboxes into the data folder of a run that is not started yet."""
    migrated.copy_to(folder / "data")
    done = subprocess.run(
        [sys.executable, "-c", _MAKE, str(count), str(speed)],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "QUOTALAB_DATA": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "sandbox.settings",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


class Run(DefaultRun):
    """A default run on sandboxes that are there, of so many worker processes."""

    def __init__(self, folder: Path, workers: int) -> None:
        super().__init__(folder)
        self.arguments = (*self.arguments, "--workers", str(workers))

    def rows(self) -> dict[str, int]:
        file = f"{self.environment['QUOTALAB_DATA']}/quotalab.sqlite3"
        with contextlib.closing(sqlite3.connect(file, timeout=30)) as database:
            found = {}
            for table in TABLES:
                query = f"SELECT COALESCE(MAX(id), 0) FROM sandbox_{table}"
                (found[table],) = database.execute(query).fetchone()
            query = (
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
            (found["bytes"],) = database.execute(query).fetchone()
        return found

    def bus(self) -> dict[str, int]:
        words = " ".join(self.child("valkey").cmdline())
        path = words.partition("unixsocket:")[2].split()[0]
        with contextlib.closing(redis.Redis(unix_socket_path=path)) as client:
            info = client.info()
        return {"commands": info["total_commands_processed"]}

    def ids(self, count: int) -> list[str]:
        file = f"{self.environment['QUOTALAB_DATA']}/quotalab.sqlite3"
        with contextlib.closing(sqlite3.connect(file, timeout=30)) as database:
            query = "SELECT id FROM sandbox_sandbox WHERE playing ORDER BY id LIMIT ?"
            return [one for (one,) in database.execute(query, [count])]

    def seconds(self) -> dict[str, float]:
        """Return the processor seconds of each part so far."""
        found: dict[str, float] = {}
        for process in (self.process, *self.family()):
            with contextlib.suppress(psutil.NoSuchProcess):
                line = " ".join(process.cmdline()) if process != self.process else ""
                name = next((w for w in ("valkey", "worker") if w in line), "web")
                used = process.cpu_times()
                found[name] = found.get(name, 0.0) + used.user + used.system
        return found


def per_second(run: Run, seconds: float) -> dict[str, float]:
    """Return what happened each second, and each tick, for so long."""
    before, commands, used = run.rows(), run.bus(), run.seconds()
    begun = time.monotonic()
    time.sleep(seconds)  # what is measured is what happens meanwhile
    took = time.monotonic() - begun
    after, more, spent = run.rows(), run.bus(), run.seconds()
    ticks = max(1, after["sample"] - before["sample"])
    found = {"ticksPerS": ticks / took, "load": os.getloadavg()[0]}
    for table in TABLES:
        found[f"{table}RowsPerTick"] = (after[table] - before[table]) / ticks
    found["bytesPerTick"] = (after["bytes"] - before["bytes"]) / ticks
    found["busCommandsPerTick"] = (more["commands"] - commands["commands"]) / ticks
    for name, value in spent.items():
        found[f"{name}CpuShare"] = (value - used.get(name, 0.0)) / took
    return {name: round(value, 2) for name, value in found.items()}


def under_way(run: Run, ticks: int) -> None:
    """Wait until the worlds are read: so many ticks were made."""
    wait_for(lambda: run.rows()["sample"] >= ticks, f"{ticks} ticks", 600, 0.5)


def show(name: str, figures: dict) -> None:
    sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")
    sys.stdout.flush()


@pytest.mark.bench
@pytest.mark.parametrize("workers", some([1, 2, 4]))
def test_throughput_by_workers(tmp_path, workers):
    made(tmp_path, FEW, 4.0)
    with Run(tmp_path, workers) as run:
        under_way(run, 5 * FEW)
        show(f"{FEW} sandboxes, {workers} processes", per_second(run, SECONDS))


@pytest.mark.bench
def test_many_sandboxes_and_sockets(tmp_path):
    begun = time.monotonic()
    made(tmp_path, SANDBOXES)
    size = Run(tmp_path, 2).rows()["bytes"] / SANDBOXES
    took = round(time.monotonic() - begun)
    show("made", {"seconds": took, "bytesPerSandbox": round(size)})
    with Run(tmp_path, 2) as run:
        under_way(run, SANDBOXES // 2)
        show(f"{SANDBOXES} sandboxes", per_second(run, SECONDS))
        asyncio.run(_with_sockets(run))


async def _with_sockets(run: Run) -> None:
    base = run.url.replace("http", "ws", 1)
    ids = run.ids(SOCKETS)
    frames, open_, lost = [0], [0], Counter[str]()
    stop = asyncio.Event()

    async def listen(one: str) -> None:
        url = f"{base}/ws/sandboxes/{one}"
        # One process holds all ends here: it may be too busy for pings of its own.
        options = {"max_size": None, "open_timeout": 300, "ping_interval": None}
        try:
            async with websockets.connect(url, **options) as socket:
                await socket.send('{"type":"hello","since":null}')
                await socket.recv()
                open_[0] += 1
                while not stop.is_set():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(socket.recv(), 1.0)
                        frames[0] += 1
        except (OSError, websockets.WebSocketException) as error:
            lost[f"{type(error).__name__}: {error}"[:90]] += 1

    begun = time.monotonic()
    tasks = []
    for n, one in enumerate(ids):
        tasks.append(asyncio.create_task(listen(one)))
        if n % 50 == 49:
            await asyncio.sleep(0.25)
    await asyncio.to_thread(
        wait_for, lambda: open_[0] + lost.total() >= len(ids), "every socket", 600, 0.2
    )
    opened, seen = round(time.monotonic() - begun, 1), frames[0]
    figures = await asyncio.to_thread(per_second, run, SECONDS)
    figures |= {
        "open": open_[0],
        "lost": dict(lost.most_common(5)),
        "openedInS": opened,
        "framesPerS": round((frames[0] - seen) / SECONDS, 1),
        "webMiB": round(run.process.memory_full_info().uss / 2**20),
    }
    show(f"{SANDBOXES} sandboxes, {len(ids)} sockets", figures)
    stop.set()
    await asyncio.gather(*tasks, return_exceptions=True)
