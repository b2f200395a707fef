"""What stays in memory after sandboxes were used and deleted.

Run `./dev bench tests/bench/bench_memory.py`. MiB that no other process shares, of the web
process, the workers and the clock together. Before = after the first round, when all that
is imported on demand was.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from tests.bench.size import sized
from tests.bench.worlds import crowded
from tests.load.asking import Asking
from tests.services.default_run import DefaultRun, wait_for

ROUNDS = sized(5, 1)
SANDBOXES = sized(8, 1)
WORKLOADS = sized(1_500, 20)
TICKS = sized(40, 2)


def mib(run: DefaultRun) -> dict[str, float]:
    """Return the memory of all processes of the run, and of the largest of them."""
    each = [one.memory_full_info().uss / 2**20 for one in [run.process, *run.family()]]
    return {"all": sum(each), "largest": max(each)}


def settled(run: DefaultRun) -> dict[str, float]:
    """Return the memory once it does not fall for some seconds."""
    lowest, since = mib(run), time.monotonic()
    while time.monotonic() - since < sized(8, 0):
        now = mib(run)
        if now["all"] < lowest["all"] - 0.5:
            lowest, since = now, time.monotonic()
        time.sleep(0.2)
    return lowest


def use(run: DefaultRun, files: list[dict[str, Any]]) -> None:
    """Make sandboxes, play them, ask about them, and delete them."""
    asking, made = Asking(run.url), []
    for number in range(SANDBOXES):
        body = {"title": f"m{number}", "files": files}
        found = asking.post("/api/v1/sandboxes", body)["id"]
        made.append(f"/api/v1/sandboxes/{found}")
    for path in made:
        asking.post(f"{path}/actions/step", {"ticks": TICKS})
    for path in made:
        wait_for(lambda path=path: asking.get(path)["tick"] >= TICKS, "its ticks")
        for part in (
            "tables/workloads",
            "tables/nodes",
            "waiting",
            "fairness",
            "state",
        ):
            asking.get(f"{path}/{part}")
    for path in made:
        asking.delete(path)


@pytest.mark.bench
@pytest.mark.timeout(1200)
def test_memory_goes_back(bench_run: DefaultRun) -> None:
    files = [
        {"name": name, "text": text} for name, text in crowded(workloads=WORKLOADS)
    ]
    after = []
    for _ in range(ROUNDS):
        use(bench_run, files)
        after.append(settled(bench_run))
    was, now = after[0], after[-1]
    sys.stdout.write(
        f"\n{SANDBOXES} sandboxes of {WORKLOADS} workloads used and deleted, {ROUNDS} rounds: "
        f"{', '.join(format(one['all'], '.0f') for one in after)} MiB in all processes "
        f"({now['all'] / was['all'] - 1:+.0%}), the largest process "
        f"{was['largest']:.0f} to {now['largest']:.0f}\n"
    )
