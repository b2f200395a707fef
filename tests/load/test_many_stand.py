"""Thousands of sandboxes of which few play, and pages that are open on them.

Run `./dev soak tests/load/test_many_stand.py`. It prints how much of a core all
processes of the server use while LOAD_STANDING (5000) sandboxes stand, how long a page
takes to have its board while LOAD_PAGES (300) are open and 100 sandboxes play, and
how many ticks those make.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

import psutil
import pytest

from tests.load.asking import with_token
from tests.load.sockets import opened
from tests.load.test_many_play import NO_LIMITS, SEEDED, SPAN_S, SPEED, ours, ticks
from tests.services.server import running_server

STANDING = int(os.environ.get("LOAD_STANDING", "5000"))
PLAYING = int(os.environ.get("LOAD_PLAYING", "100"))
PAGES = int(os.environ.get("LOAD_PAGES", "300"))
PAGES_PER_S = 10.0

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]

_MAKE = """
import sys
from django.contrib.auth.models import User
from django.db import transaction
from sandbox import actions
from sandbox.world import commits
commits._publish = lambda *_: None
who = User.objects.get(username="olga")
text = sys.stdin.read()
for start in range(0, {count}, 100):
    with transaction.atomic():
        for seed in range(start, min(start + 100, {count})):
            print(actions.do_create(who, files=[("w.yaml", text)], seed=seed).sandbox.pk)
"""


def spent() -> float:
    """Return the processor seconds of the server's processes so far."""
    every: set[psutil.Process] = set()
    for word in ("manage.py", "uvicorn", "valkey", "postgres"):
        every.update(ours(word))
    return sum(sum(one.cpu_times()[:2]) for one in every)


def share() -> float:
    """Return how much of a core the server uses, looked at for a while."""
    before = spent()
    time.sleep(SPAN_S)  # what is measured is what happens meanwhile
    return round((spent() - before) / SPAN_S, 4)


def test_sandboxes_that_stand_cost_nothing_and_pages_start(postgres, tmp_path):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        one = with_token(run)
        figures: dict[str, object] = {"coresBefore": share()}
        text = SEEDED["files"][0]["text"]
        code = _MAKE.format(count=STANDING)
        keys = run.manage("shell", "--verbosity", "0", "-c", code, says=text).split()
        figures |= {"standing": len(keys), "coresOfThese": share()}
        for key in keys[:PLAYING]:
            one.post(f"/api/v1/sandboxes/{key}/actions/play", {"speed": SPEED})
        shown = [keys[n % STANDING] for n in range(PAGES)]
        with opened(run, "olga", shown, per_s=PAGES_PER_S) as pages:
            starts = sorted(pages.started_s.values())
            before = ticks(one)
            figures["cores"] = share()
            after = ticks(one)
        made = [after[key] - before[key] for key in before]
    figures |= {
        "startS": {
            "median": round(statistics.median(starts), 2),
            "p95": round(starts[int(0.95 * len(starts))], 2),
        },
        "ticksPerS": round(sum(made) / SPAN_S, 1),
        "load": os.getloadavg()[0],
    }
    sys.stdout.write(f"\n{json.dumps(figures)}\n")
    assert min(made) > 0
