"""Futures of a world in which 500 workloads wait, by the world's own engine.

Run `./dev bench tests/bench/bench_forecast.py`.
"""

from __future__ import annotations

import sys
import time

import pytest
import yaml

from scheduler.analysis.forecast.present import present_of, waiting
from scheduler.analysis.forecast.world import futures_of
from scheduler.assembly import assemble
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from tests.bench.size import sized
from tests.builders import cluster_queue, flavor, job, local_queue

pytestmark = pytest.mark.bench

JOBS = sized(540, 30)
FUTURES = sized(5, 1)


def busy() -> World:
    """Return four ClusterQueues that borrow and reclaim, 200 s after their jobs began to come."""
    queues = [
        cluster_queue(
            f"c{n}", cohort="all", cpu=10, within="LowerPriority", reclaim="Any"
        )
        for n in range(4)
    ]
    local_queues = [local_queue(f"q{n}", cluster_queue=f"c{n}") for n in range(4)]
    jobs = [
        job(
            f"train-{n:03d}",
            queue=f"q{n % 4}",
            cpu=str(1 + n % 3),
            arrival=f"{n % 60}s",
            runtime=f"{60 + 37 * n % 240}s",
        )
        for n in range(JOBS)
    ]
    text = yaml.safe_dump_all([flavor(), *queues, *local_queues, *jobs])
    world = assemble([("world.yaml", text)]).world
    advance(world, 200_000)
    return world


def test_a_future_in_which_all_that_waits_starts() -> None:
    present = present_of(busy(), continued=False)
    wanted = waiting(present.world)
    begun = time.process_time()
    found = futures_of(present, range(FUTURES), seed=1, horizon_ms=4 * 3_600_000)
    each = (time.process_time() - begun) / FUTURES
    sys.stdout.write(f"{len(wanted)} wait; {each:.2f} CPU-s per future\n")
    assert all(len(one.starts) == len(wanted) for one in found)
