"""Two hundred sandboxes play while twenty people ask what would happen.

Run `./dev soak tests/load/test_many_play.py`. It prints, calm and under load, how many
ticks a sandbox makes in a span (least, median), how long the first part and the whole of
a what-if take, how many messages wait, and the connections that PostgreSQL has.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from sandbox.process.services import bus_client
from tests.load.asking import Asking, with_token
from tests.load.test_flood import made
from tests.services.server import ServerRun, running_server

SANDBOXES = int(os.environ.get("LOAD_SANDBOXES", "200"))
PEOPLE = int(os.environ.get("LOAD_PEOPLE", "20"))
QUESTIONS = 5  # of each person
SPAN_S = float(os.environ.get("LOAD_SPAN_S", "20"))
SPEED = 0.3
NO_LIMITS = {"SANDBOXES_PER_USER": "0", "REQUESTS_PER_MINUTE": "0"}
ADDED = {"node": {"name": "n9", "change": "add", "allocatable": {"cpu": "8"}}}


def ticks(one: Asking) -> dict[str, int]:
    """Return the tick of each sandbox."""
    items = one.get("/api/v1/sandboxes?limit=500")["items"]
    return {item["id"]: item["tick"] for item in items if item["playing"]}


def span(run: ServerRun, one: Asking, name: str) -> list[int]:
    """Look for a while; print and return how many ticks each sandbox made."""
    queues = ("ticks", "answers", "celery", "experiments")
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
        "load": os.getloadavg()[0],
    }
    sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")
    return made_


def asked(one: Asking, path: str) -> tuple[int, float]:
    """Ask a what-if and wait for its whole verdict; return status and seconds."""
    begun, body = time.monotonic(), {"changes": [ADDED], "horizonMs": 600_000}
    try:
        found: Any = one.post(f"{path}/what-ifs?wait=20", body)
        while "place" in found:
            found = one.get(f"{found['place'].partition('?')[0]}?wait=20")
    except urllib.error.HTTPError as refused:
        return refused.code, time.monotonic() - begun
    return 200, time.monotonic() - begun


@pytest.mark.soak
def test_what_ifs_of_many_leave_the_ticks_of_others(postgres, tmp_path):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        owner = with_token(run)
        for _ in range(SANDBOXES):
            made(owner, 4, 2)
        for key in [
            item["id"] for item in owner.get("/api/v1/sandboxes?limit=500")["items"]
        ]:
            owner.post(f"/api/v1/sandboxes/{key}/actions/play", {"speed": SPEED})
        time.sleep(5)
        span(run, owner, "calm")
        people = [with_token(run, f"person-{n}") for n in range(PEOPLE)]
        paths = [made(one, 300, 40) for one in people]
        with ThreadPoolExecutor(PEOPLE) as pool:
            answers = [
                pool.submit(asked, one, path)
                for _ in range(QUESTIONS)
                for one, path in zip(people, paths, strict=True)
            ]
            under = span(run, owner, f"beside {len(answers)} what-ifs")
            found = [answer.result() for answer in answers]
        span(run, owner, "after")
    seconds = sorted(second for status, second in found if status == 200)
    sys.stdout.write(
        f"what-ifs: {len(seconds)} of {len(found)} answered, median "
        f"{statistics.median(seconds or [0]):.1f} s, most {max(seconds or [0]):.1f} s\n"
    )
    assert under[0] > 0
