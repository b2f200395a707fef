"""Eight minutes of a full default run: nothing fails, nothing is lost, memory stays flat.

Sandboxes play with sockets open and writers on them; meanwhile forecasts are asked for, the
decisions of a twin are judged, and searches are started and deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import websockets

from tests.builders import cluster_queue, flavor, job, local_queue
from tests.load.asking import Asking
from tests.load.prepared import made_search, made_twin
from tests.sandbox.conftest import text_of
from tests.services.default_run import DefaultRun

pytestmark = pytest.mark.soak

SECONDS = int(os.environ.get("SOAK_SECONDS", "480"))
SANDBOXES = int(os.environ.get("SOAK_SANDBOXES", "50"))
SOCKETS, WRITERS = 4 * SANDBOXES, max(1, SANDBOXES * 2 // 5)
SEARCH_EVERY = 20
IN_DEFAULT = {"namespace": "default"}
#: The memory at the end may be this much above that half-way: until then every
#: process takes in the worlds it meets.
MOST_GROWTH = 1.1


@dataclass
class Seen:
    """What one socket got: the revisions must join up without a gap."""

    revision: int = -1
    frames: int = 0
    gaps: int = 0
    pages: int = 0


@dataclass
class Load:
    """What happened in all."""

    writes: int = 0
    questions: int = 0
    failures: list[str] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)


def world(n: int) -> str:
    """Return a world whose size stays: what writers bring they take away again."""
    flavors = (flavor(f"flavor-{who}", turn="0") for who in range(WRITERS))
    jobs = (
        job(f"job-{k}", queue="main", cpu=1, runtime=f"{3 + k % 5}s", recreate="true")
        for k in range(12)
    )
    return text_of(
        flavor(),
        cluster_queue("a", cpu=4 + n % 3),
        local_queue("main", cluster_queue="a"),
        *flavors,
        *jobs,
    )


def request(who: int, turn: int) -> tuple[str, dict]:
    """Return what a writer asks for: a job that runs at once, then its end."""
    name = f"written-{who}"
    if turn % 2:
        return "delete", {"objects": [{"kind": "Job", "name": name, **IN_DEFAULT}]}
    work = job(name, queue="main", cpu=1, runtime="2s")
    return "import", {"objects": [flavor(f"flavor-{who}", turn=str(turn)), work]}


def write(
    default_run: DefaultRun, ids: list[str], stop: threading.Event, who: int, load: Load
):
    turn = -1
    while not stop.is_set():
        turn += 1
        action, body = request(who, turn)
        sandbox = ids[(who + turn // 2 * 7) % len(ids)]
        start = time.monotonic()
        try:
            default_run.post(f"/api/v1/sandboxes/{sandbox}/actions/{action}", body)
            load.writes += 1
        except urllib.error.HTTPError as error:
            load.failures.append(f"{error.code}: {error.read()[:200]!r}")
        except OSError as error:
            load.failures.append(repr(error))
        load.waits_s.append(time.monotonic() - start)
        stop.wait(1.0)


def inquire(
    run: DefaultRun, ids: list[str], twin: str, stop: threading.Event, load: Load
) -> None:
    """Ask for what is run to be answered: forecasts, a twin's decisions, searches."""
    asking, search, turn = Asking(run.url), "", -1
    while not stop.is_set():
        turn += 1
        one = f"/api/v1/sandboxes/{ids[turn % len(ids)]}"
        try:
            if turn % SEARCH_EVERY == 0:
                if search:
                    asking.delete(f"/api/v1/experiments/{search}")
                search = made_search(asking)
            asking.get(f"{one}/forecast?futures=4&horizonMs=60000&seconds=5")
            asking.get(f"/api/v1/sandboxes/{twin}/shadow?seconds=2")
            asking.get(f"/api/v1/experiments/{search}")
            load.questions += 3
        except urllib.error.HTTPError as error:
            load.failures.append(f"{error.url} {error.code}: {error.read()[:200]!r}")
        except OSError as error:
            load.failures.append(repr(error))
        stop.wait(1.0)


async def listen(url: str, seen: Seen, end: float) -> None:
    async with websockets.connect(url, max_size=None, open_timeout=60) as socket:
        await socket.send(json.dumps({"type": "hello", "views": []}))
        while (left := end - time.monotonic()) > 0:
            try:
                frame = json.loads(await asyncio.wait_for(socket.recv(), left))
            except TimeoutError:
                return
            seen.frames += 1
            if frame["type"] == "page_state":
                seen.pages += 1
                seen.revision = frame["revision"]
            elif frame["type"] == "diff":
                seen.gaps += frame["from"] != seen.revision
                seen.revision = frame["revision"]


def memory_mib(default_run: DefaultRun) -> list[int]:
    """Return what each process has for itself; the first is the web server."""
    found = []
    for process in (default_run.process, *default_run.family()):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(round(process.memory_full_info().uss / 2**20))
    return found


def test_a_full_default_run_runs_for_minutes(tmp_path: Path):
    load, every = Load(), [Seen() for _ in range(SOCKETS)]
    with DefaultRun(tmp_path / "default_run") as default_run:
        ids = []
        for n in range(SANDBOXES):
            files = [{"name": "w.yaml", "text": world(n)}]
            made = default_run.post("/api/v1/sandboxes", {"files": files, "seed": n})
            ids.append(made["id"])
            default_run.post(
                f"/api/v1/sandboxes/{made['id']}/actions/play", {"speed": 1}
            )
        stop = threading.Event()
        twin = made_twin(Asking(default_run.url), ticks=40)
        writers = [
            threading.Thread(target=write, args=(default_run, ids, stop, n, load))
            for n in range(WRITERS)
        ]
        arguments = (default_run, ids, twin, stop, load)
        writers.append(threading.Thread(target=inquire, args=arguments))
        for writer in writers:
            writer.start()
        memory = asyncio.run(_everybody(default_run, [*ids, twin], every))
        stop.set()
        for writer in writers:
            writer.join(60)
        ticks = [default_run.get(f"/api/v1/sandboxes/{i}")["tick"] for i in ids]
        problems = [default_run.get(f"/api/v1/sandboxes/{i}")["problem"] for i in ids]
    load.waits_s.sort()
    totals = [sum(parts) for parts in memory]
    half_way = totals[len(totals) // 2]
    sys.stdout.write(
        json.dumps(
            {
                "seconds": SECONDS,
                "ticks": sum(ticks),
                "ticksPerSecond": round(sum(ticks) / SECONDS, 1),
                "slowestSandboxTicks": min(ticks),
                "frames": sum(s.frames for s in every),
                "pages": sum(s.pages for s in every),
                "writes": load.writes,
                "questions": load.questions,
                "writeP50Ms": round(1000 * load.waits_s[len(load.waits_s) // 2]),
                "writeP95Ms": round(1000 * load.waits_s[len(load.waits_s) * 95 // 100]),
                "failures": len(load.failures),
                "memoryMiB": totals,
                "firstMiB": memory[0],
                "lastMiB": memory[-1],
            }
        )
    )
    assert not load.failures, load.failures[:5]
    assert not any(problems)
    assert sum(s.gaps for s in every) == 0
    assert all(s.frames > 0 for s in every)
    assert min(ticks) > 0
    assert totals[-1] < MOST_GROWTH * half_way


async def _everybody(
    default_run: DefaultRun, ids: list[str], every: list[Seen]
) -> list[list[int]]:
    """Listen on all sockets; return the memory, measured all along."""
    end = time.monotonic() + SECONDS
    base = default_run.url.replace("http", "ws", 1)
    listeners = [
        asyncio.create_task(
            listen(f"{base}/ws/sandboxes/{ids[n % len(ids)]}", seen, end)
        )
        for n, seen in enumerate(every)
    ]
    memory = []
    while time.monotonic() < end:
        await asyncio.sleep(min(15.0, SECONDS / 8))
        memory.append(await asyncio.to_thread(memory_mib, default_run))
    await asyncio.gather(*listeners)
    return memory
