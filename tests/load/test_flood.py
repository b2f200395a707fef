"""A person floods the server with forecasts of 2,000 workloads: what others feel.

Run `./dev soak tests/load/test_flood.py`. It prints, per phase, the ticks per second of
a sandbox that plays at four, the median time of a table, and the memory of the web process.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.builders import cluster_queue, flavor, job, local_queue
from tests.load.asking import Asking
from tests.sandbox.conftest import text_of
from tests.services.default_run import DefaultRun

PHASE_S, AFTER_S = 15.0, 200.0
READERS, POSTS = 50, 60


def status(url: str, body: object = None) -> int:
    """Send a request; return its status, also that of a refusal."""
    data = None if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, data=data, headers=kind), timeout=300
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def made(run: DefaultRun | Asking, jobs: int, cpu: int) -> str:
    """Return the path of a sandbox of so many jobs in one queue, three ticks old."""
    manifests = [
        flavor(),
        cluster_queue("q", cpu=cpu),
        local_queue("lq", cluster_queue="q"),
        *(
            job(f"j{n}", queue="lq", cpu=1, runtime=f"{30 + n % 60}s")
            for n in range(jobs)
        ),
    ]
    files = [{"name": "w.yaml", "text": text_of(*manifests)}]
    one = run.post("/api/v1/sandboxes", {"files": files})
    path = f"/api/v1/sandboxes/{one['id']}"
    run.post(f"{path}/actions/step", {"ticks": 3})
    return path


def phase(run: DefaultRun, name: str, small: str) -> None:
    """Look at the small sandbox for a while and print what it was like."""
    first, begun, seconds = run.get(small)["tick"], time.monotonic(), []
    while time.monotonic() - begun < PHASE_S:
        asked = time.monotonic()
        run.get(f"{small}/tables/workloads?limit=5")
        seconds.append(time.monotonic() - asked)
        time.sleep(0.5)
    figures = {
        "ticksPerS": round((run.get(small)["tick"] - first) / PHASE_S, 2),
        "tableMs": round(1000 * statistics.median(seconds), 1),
        "tableMostMs": round(1000 * max(seconds), 1),
        "webMiB": round(run.process.memory_info().rss / 2**20),
    }
    sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")


@pytest.mark.soak
def test_a_flood_of_forecasts_holds_up_nobody_else(default_run):
    large, small = made(default_run, 2000, 40), made(default_run, 60, 4)
    default_run.post(f"{small}/actions/play", {"speed": 4})
    phase(default_run, "quiet", small)
    asked = f"{default_run.url}{large}/forecast?futures=200&seconds=60&seed="
    with ThreadPoolExecutor(READERS) as pool:
        answers = [pool.submit(status, f"{asked}{n}") for n in range(READERS)]
        phase(default_run, f"{READERS} GETs of a forecast at once", small)
        read = Counter(answer.result() for answer in answers)
    spec = {"futures": 200, "seconds": 60}
    url = f"{default_run.url}{large}/forecasts"
    sent = Counter(status(url, {**spec, "seed": 1000 + n}) for n in range(POSTS))
    phase(default_run, f"after {POSTS} POSTs of forecasts", small)
    sys.stdout.write(f"answers: {dict(read)} {dict(sent)}\n")
    assert set(read) | set(sent) <= {200, 201, 202, 429}
    time.sleep(AFTER_S)
    phase(default_run, f"{AFTER_S:g} s later", small)
