"""What a what-if costs the server: both sides to a horizon, against one run to it.

Run `./dev bench tests/bench/bench_pair.py`. CPU seconds of one process: the engine alone,
then the pair with its verdict, in turns. Prints both and how many runs a pair is.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import pytest

from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import assemble, merge
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World, fork
from scheduler.model.objects import Key, Object
from tests.bench.size import sized
from tests.bench.worlds import crowded

HORIZON_MS = sized(60_000, 10_000)
QUEUE = Key("ClusterQueue", "", "cq1")


def hold(world: World) -> None:
    """Let one queue admit nothing more."""
    manifest = merge(world.objects[QUEUE].manifest, {"spec": {"stopPolicy": "Hold"}})
    world.put(Object(key=QUEUE, manifest=manifest))


def cpu_seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


@pytest.mark.bench
@pytest.mark.timeout(900)
def test_a_pair_against_one_run() -> None:
    size = {"workloads": sized(5000, 100), "nodes": sized(500, 10)}
    world = assemble(crowded(**size), seed=1).world
    for _ in range(20):
        run_tick(world)
    until = world.context.now_ms + HORIZON_MS
    one, pair = [], []
    for _ in range(sized(3, 1)):
        one.append(cpu_seconds(lambda: simulate(fork(world), until_ms=until)))
        pair.append(
            cpu_seconds(lambda: compare_pair(world, hold, horizon_ms=HORIZON_MS))
        )
    figures = {"runCpuS": min(one), "pairCpuS": min(pair)}
    figures["runs"] = min(pair) / max(min(one), 1e-9)
    rounded = {name: round(value, 2) for name, value in figures.items()}
    sys.stderr.write(json.dumps(size | rounded) + "\n")
