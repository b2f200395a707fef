"""Two hundred sandboxes play while twenty people ask what would happen.

Run `./dev soak tests/load/test_many_play.py`. It prints, calm and under load, how many
ticks a sandbox makes in a span (least, median), how long the whole of a what-if takes,
how many messages wait, the connections that PostgreSQL has, and the alerts whose rules
are true. The second test does it for LOAD_MINUTES (10), kills a process of the worker in
each and Redis in one, and holds every sandbox to one that nothing happened to.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import psycopg
import pytest

from sandbox.process.services import await_bus, bus_client, bus_command
from tests.builders import cluster_queue, flavor, job, local_queue
from tests.load.asking import Asking, with_token
from tests.load.sockets import opened
from tests.load.test_flood import made
from tests.sandbox.conftest import text_of
from tests.services.alerts import firing
from tests.services.default_run import wait_for
from tests.services.server import ServerRun, running_server

SANDBOXES = int(os.environ.get("LOAD_SANDBOXES", "200"))
PEOPLE = int(os.environ.get("LOAD_PEOPLE", "20"))
QUESTIONS = 5  # of each person
PAGES = 30  # of a lesson
SPAN_S = float(os.environ.get("LOAD_SPAN_S", "20"))
SPEED = 0.3
MINUTES = int(os.environ.get("LOAD_MINUTES", "10"))
#: How the world of every sandbox begins.
SEEDED = {
    "seed": 7,
    "files": [
        {
            "name": "w.yaml",
            "text": text_of(
                flavor(),
                cluster_queue("q", cpu=2),
                local_queue("lq", cluster_queue="q"),
                *(
                    job(
                        f"j{n}", queue="lq", cpu=1, runtime=f"{3 + n}s", recreate="true"
                    )
                    for n in range(4)
                ),
            ),
        }
    ],
}
pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]
NO_LIMITS = dict.fromkeys(
    ("SANDBOXES_PER_USER", "REQUESTS_PER_MINUTE", "WRITES_PER_MINUTE"), "0"
)
ADDED = {"node": {"name": "n9", "change": "add", "allocatable": {"cpu": "8"}}}


def ticks(one: Asking) -> dict[str, int]:
    """Return the tick of each sandbox."""
    items = one.get("/api/v1/sandboxes?limit=500")["items"]
    return {item["id"]: item["tick"] for item in items if item["playing"]}


def span(run: ServerRun, one: Asking, name: str) -> list[int]:
    """Look for a while; print and return how many ticks each sandbox made."""
    queues = ("ticks", "answers", "celery", "experiments")
    scraped = scrape(one)
    waiting, connections = [], []
    with psycopg.connect(run.variables["DATABASE_URL"], autocommit=True) as look:
        bus = bus_client(run.variables["REDIS_URL"])
        before, begun = ticks(one), time.monotonic()
        while time.monotonic() - begun < SPAN_S:
            waiting.append([bus.llen(queue) for queue in queues])
            row = look.execute("SELECT count(*) FROM pg_stat_activity").fetchone()
            connections.append(row[0] if row else 0)
            time.sleep(0.5)
        after = ticks(one)
    made_ = sorted(after[key] - before[key] for key in before)
    figures = {
        "ticksEach": {"least": made_[0], "median": statistics.median(made_)},
        "ticksPerS": round(sum(made_) / SPAN_S, 1),
        "mostWaiting": dict(
            zip(queues, map(max, zip(*waiting, strict=True)), strict=True)
        ),
        "connections": max(connections),
        "alerts": firing(scraped, scrape(one), SPAN_S),
        "load": os.getloadavg()[0],
    }
    sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")
    return made_


def scrape(one: Asking) -> str:
    """Return what Prometheus would read."""
    asked = urllib.request.Request(f"{one.url}/metrics/service", None, one.headers)
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return str(answer.read().decode())


class Answered(NamedTuple):
    """How a what-if came out, and when."""

    status: int
    first_s: float  # until a part of its verdict was there
    whole_s: float


def asked(one: Asking, path: str) -> Answered:
    """Ask a what-if and wait for its whole verdict."""
    begun, body = time.monotonic(), {"changes": [ADDED], "horizonMs": 600_000}
    first = 0.0
    try:
        found: Any = one.post(f"{path}/what-ifs?wait=1", body)
        while "place" in found:
            if found["verdict"] and not first:
                first = time.monotonic() - begun
            found = one.get(f"{found['place']}?wait={20 if first else 1}")
    except urllib.error.HTTPError as refused:
        return Answered(refused.code, 0.0, time.monotonic() - begun)
    whole = time.monotonic() - begun
    return Answered(200, first or whole, whole)


def test_what_ifs_of_many_leave_the_ticks_of_others(postgres, tmp_path):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        owner = with_token(run)
        paths = [made(owner, 4, 2) for _ in range(SANDBOXES)]
        for path in paths:
            owner.post(f"{path}/actions/play", {"speed": SPEED})
        lesson = made(owner, 300, 40)
        owner.post(f"{lesson}/lesson", {})
        owner.post(f"{lesson}/actions/play", {"speed": 2})
        time.sleep(5)
        calm = span(run, owner, "calm")
        people = [with_token(run, f"person-{n}") for n in range(PEOPLE)]
        boards = [made(one, 300, 40) for one in people]
        class_ = [lesson.rpartition("/")[2]] * PAGES
        with (
            ThreadPoolExecutor(PEOPLE) as pool,
            opened(run, "olga", class_, per_s=20) as pages,
        ):
            answers = [
                pool.submit(asked, one, path)
                for _ in range(QUESTIONS)
                for one, path in zip(people, boards, strict=True)
            ]
            before = dict(pages.frames)
            under = span(run, owner, f"beside {len(answers)} what-ifs")
            frames = [pages.frames[n] - count for n, count in before.items()]
            found = [answer.result() for answer in answers]
        span(run, owner, "after")
    well = [one for one in found if one.status == 200]
    each = [
        statistics.median(one.first_s for one in found[n::PEOPLE])
        for n in range(PEOPLE)
    ]
    figures = {
        "answered": f"{len(well)} of {len(found)}",
        "firstS": round(statistics.median(one.first_s for one in well), 1),
        "bestAndWorstPersonS": [round(min(each), 1), round(max(each), 1)],
        "wholeS": round(statistics.median(one.whole_s for one in well), 1),
        "leastFramesPerS": round(min(frames) / SPAN_S, 2),
        "leastOfCalm": round(under[0] / statistics.median(calm), 2),
    }
    sys.stdout.write(f"what-ifs: {json.dumps(figures)}\n")
    assert under[0] > 0


def test_a_hundred_requests_at_once_are_answered(postgres, tmp_path):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        one = with_token(run)
        path = made(one, 40, 8)
        wait_for(lambda: one.get(path)["tick"] == 3, "three ticks", 120)

        def status(number: int) -> int:
            place = (path, f"{path}/tables/workloads", f"{path}/state?tick=1")[
                number % 3
            ]
            try:
                one.get(place)
            except urllib.error.HTTPError as refused:
                return refused.code
            return 200

        begun = time.monotonic()
        with ThreadPoolExecutor(100) as pool:
            found = Counter(pool.map(status, range(500)))
        seconds, load = time.monotonic() - begun, os.getloadavg()[0]
    sys.stdout.write(f"\n{dict(found)} in {seconds:.1f} s, load {load:.1f}\n")
    assert found == {200: 500}


def ours(word: str) -> list[psutil.Process]:
    """Return the processes of the server whose command has this word."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended just now
            if word in " ".join(one.cmdline()):
                found.append(one)
    return found


def memory() -> float:
    """Return the MiB of the server's own processes."""
    every = {*ours("manage.py"), *ours("uvicorn")}
    return sum(one.memory_info().rss for one in every) / 2**20


def ask_on(one: Asking, path: str, over: threading.Event) -> None:
    while not over.is_set():
        try:
            asked(one, path)
        except OSError:  # the connection ended with its process
            over.wait(1)


def test_killed_workers_and_a_killed_bus_lose_nothing(postgres, tmp_path):
    rng, over = random.Random(58), threading.Event()
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        owner = with_token(run)
        paths = [
            f"/api/v1/sandboxes/{owner.post('/api/v1/sandboxes', SEEDED)['id']}"
            for _ in range(SANDBOXES + 1)
        ]
        calm, *playing = paths
        for path in playing:
            owner.post(f"{path}/actions/play", {"speed": SPEED})
        people = [with_token(run, f"person-{n}") for n in range(PEOPLE)]
        threads = [
            threading.Thread(target=ask_on, args=(one, made(one, 100, 20), over))
            for one in people
        ]
        for thread in threads:
            thread.start()
        before = 0.0
        for minute in range(MINUTES):
            ends = time.monotonic() + 60
            (_, *processes) = ours("manage.py worker")  # their parent starts others
            rng.choice(processes).kill()
            if minute == MINUTES // 2:
                bus = Path(run.variables["REDIS_URL"].removeprefix("unix://"))
                for process in ours(str(bus)):
                    process.kill()
                again = subprocess.Popen(bus_command(bus), stdin=subprocess.DEVNULL)
                await_bus(run.variables["REDIS_URL"])
            wait_for(lambda ends=ends: time.monotonic() > ends, "the minute", 90, 1)
            before = before or memory()
            sys.stdout.write(f"minute {minute}: {memory():.0f} MiB\n")
        over.set()
        for thread in threads:
            thread.join()
        for path in playing:
            owner.post(f"{path}/actions/pause", {})
        after = memory()
        ticks_ = [owner.get(path)["tick"] for path in playing]
        owner.post(f"{calm}/actions/step", {"ticks": max(ticks_)})
        wait_for(lambda: owner.get(calm)["tick"] == max(ticks_), "the calm run", 600, 1)
        differ = [
            path
            for path, tick in zip(playing, ticks_, strict=True)
            if owner.get(f"{path}/hash?tick={tick}")["hash"]
            != owner.get(f"{calm}/hash?tick={tick}")["hash"]
        ]
        figures = {
            "ticks": [min(ticks_), max(ticks_)],
            "MiB": [round(before), round(after)],
            "load": os.getloadavg()[0],
        }
        sys.stdout.write(f"{json.dumps(figures)}\n")
        again.terminate()
        again.wait(10)
    assert differ == []
    assert min(ticks_) > 0
