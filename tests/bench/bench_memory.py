"""What stays in memory after sandboxes were used and deleted.

Run `./dev bench tests/bench/bench_memory.py`. MiB that no other process shares, of the web
process, the workers and the clock together. Before = after the first round, when all that
is imported on demand was.
"""

from __future__ import annotations

import itertools
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
    """Return the memory of each process of the run, the sum first."""
    found = {"all": 0.0}
    names: dict[str, int] = {}
    for one in [run.process, *run.family()]:
        name = one.cmdline()[2:3][0] if len(one.cmdline()) > 2 else one.name()
        names[name] = names.get(name, 0) + 1
        found[f"{name}{names[name]}"] = one.memory_full_info().uss / 2**20
    found["all"] = sum(found.values())
    return found


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
    for was, now in itertools.pairwise([after[0], after[-1]]):
        grown = now["all"] / was["all"] - 1
        sys.stdout.write(
            f"\n{was}\n{[round(one['all']) for one in after]}\n{now}\n{grown:+.0%}\n"
        )
