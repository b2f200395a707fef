"""What an answer costs that a worker works out: counterfactuals, moves as what-ifs of 30 s.

Run `./dev bench tests/bench/bench_answers.py`. Each question is of another revision, so
that none is answered from what is kept. Beside it how long the work itself takes.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import pytest

from sandbox.whatifs.changes import operation_of
from sandbox.world.operations import perform
from scheduler.analysis.explain.changes import kueue_of
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.pairs import compare_pair
from scheduler.cli.run import world_at
from scheduler.engine.world import World
from tests.bench.cases import crowded_world, ticking
from tests.bench.size import sized
from tests.sandbox.conftest import contended, text_of
from tests.services.default_run import ROOT, DefaultRun, wait_for

TIMES = sized(20, 1)
WAITING = ("pending", "inadmissible")


def timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def stepped(run: DefaultRun, path: str, ticks: int) -> None:
    """Make so many ticks, and wait until they are there."""
    wanted = run.get(path)["tick"] + ticks
    run.post(f"{path}/actions/step", {"ticks": ticks})
    wait_for(lambda: run.get(path)["tick"] >= wanted, f"tick {wanted}")


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_small_answers_by_workers(bench_run):
    files = [{"name": "world.yaml", "text": text_of(*contended(60))}]
    made = bench_run.post("/api/v1/sandboxes", {"title": "small", "files": files})
    path = f"/api/v1/sandboxes/{made['id']}"
    stepped(bench_run, path, 5)
    seconds: dict[str, list[float]] = {
        "counterfactuals": [],
        "move": [],
        "table": [],
    }
    for _ in range(TIMES):
        stepped(bench_run, path, 1)
        rows = bench_run.get(f"{path}/tables/workloads?limit=500")["items"]
        one = next(row for row in rows if row["phase"] in WAITING)
        asked = f"{path}/explain/{one['namespace']}/{one['name']}/counterfactuals"
        seconds["counterfactuals"].append(timed(lambda a=asked: bench_run.get(a)))
        to = "b" if one["clusterQueue"].startswith("a") else "a"
        key = {"kind": "Workload", **{k: one[k] for k in ("namespace", "name")}}
        move = {**key, "to": {"kind": "ClusterQueue", "name": to}}
        body = {"changes": [{"move": move}], "horizonMs": 30_000}
        seconds["move"].append(
            timed(lambda b=body: bench_run.post(f"{path}/what-ifs", b))
        )
        seconds["table"].append(
            timed(lambda: bench_run.get(f"{path}/tables/workloads?limit=5"))
        )
    for name, found in seconds.items():
        figures = {
            "question": name,
            "p50Ms": round(1000 * statistics.median(found), 1),
            "p95Ms": round(1000 * sorted(found)[len(found) * 95 // 100], 1),
        }
        sys.stderr.write(json.dumps(figures) + "\n")


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_a_what_if_of_the_demo_until_its_first_and_its_last_verdict(bench_run):
    made = bench_run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
    path = f"/api/v1/sandboxes/{made['id']}"
    stepped(bench_run, path, 60)
    queues = ("etl", "research", "training", "inference")
    for name in queues[: sized(4, 1)]:
        body = {"spec": {"preemption": {"reclaimWithinCohort": "Never"}}}
        change = {"patch": {"kind": "ClusterQueue", "name": name, "body": body}}
        asked = {"changes": [change], "horizonMs": sized(600_000, 20_000)}
        begun = time.perf_counter()
        found = bench_run.post(f"{path}/what-ifs?wait=0", asked)
        first = None
        while True:
            now = time.perf_counter() - begun
            if found["verdict"] and first is None:
                first = now
            if found["state"] != "running":
                break
            time.sleep(0.02)
            found = bench_run.get(f"{path}/what-ifs/{found['id']}?wait=0")
        figures = {"whatIf": name, "firstMs": round(1000 * (first or now))}
        sys.stderr.write(json.dumps(figures | {"lastMs": round(1000 * now)}) + "\n")


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_what_would_let_each_waiting_workload_of_the_demo_in():
    """CPU seconds of this process, until the first verdict and until the last one."""
    at = sized("98s", "80s")
    world = world_at([ROOT / "sandbox/scenarios/friday-rush"], at)
    known = kueue_of(world).cluster.workloads.items()
    waiting = [key for key, one in known if not one.reserved and not one.finished]
    for key in waiting[: sized(8, 1)]:
        begun, told = time.process_time(), list[float]()
        found = counterfactuals(
            world,
            key,
            horizon_ms=sized(600_000, 5_000),
            tell=lambda _, b=begun, t=told: t.append(time.process_time() - b),
        )
        figures = {
            "workload": key.name,
            "runs": found.runs,
            "firstMs": round(1000 * told[0]),
            "allMs": round(1000 * told[-1]),
        }
        sys.stderr.write(json.dumps(figures) + "\n")


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_a_what_if_of_a_crowded_world_until_its_first_and_its_last_verdict():
    """CPU seconds of both sides in this process; a worker runs one beside the other."""
    world = crowd(sized(8, 1))
    body = {"spec": {"preemption": {"reclaimWithinCohort": "Never"}}}
    key = {"kind": "ClusterQueue", "namespace": "", "name": "cq1"}
    begun, told = time.process_time(), list[float]()
    operation = operation_of(world, [{"patch": {**key, "body": body}}])
    compare_pair(
        world,
        lambda side: perform(side, operation),
        horizon_ms=sized(600_000, 5_000),
        tell=lambda _: told.append(time.process_time() - begun),
    )
    whole = time.process_time() - begun
    figures = {"objects": len(world.objects), "firstMs": round(1000 * told[0])}
    sys.stderr.write(json.dumps(figures | {"lastMs": round(1000 * whole)}) + "\n")


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_a_move_tried_out_in_a_crowded_world():
    """CPU seconds until the move is known to be possible, and until its first verdict."""
    world = crowd(sized(16, 1))
    works = kueue_of(world).cluster.workloads.values()
    waiting = sorted(work.key for work in works if work.pending_queue is not None)
    key = waiting[len(waiting) // 2]
    named = {"kind": key.kind, "namespace": key.namespace, "name": key.name}
    elsewhere = "lq2" if world.objects[key].spec["queueName"] == "lq1" else "lq1"
    to = {"kind": "LocalQueue", "namespace": key.namespace, "name": elsewhere}
    begun, told = time.process_time(), list[float]()
    operation = operation_of(world, [{"move": {**named, "to": to}}])
    known = time.process_time() - begun
    compare_pair(
        world,
        lambda side: perform(side, operation),
        horizon_ms=sized(30_000, 5_000),
        tell=lambda _: told.append(time.process_time() - begun),
    )
    figures = {"objects": len(world.objects), "knownMs": round(1000 * known)}
    sys.stderr.write(json.dumps(figures | {"firstMs": round(1000 * told[0])}) + "\n")


def crowd(size: int) -> World:
    """Return a crowded world after half a minute, as it is read from its rows."""
    world = crowded_world(size)
    ticking(world, 30)()
    return World.decode(world.encode())
