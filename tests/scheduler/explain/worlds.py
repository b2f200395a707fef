"""Contended worlds to ask about, small ones by hand and random ones by seed."""

from __future__ import annotations

import random
from typing import Any

from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
    world_of,
)
from tests.scheduler.yunikorn import clusters

FAIR: dict[str, Any] = {"kueue": {"fairSharing": {"enable": True}}}
CLASSICAL: dict[str, Any] = {}


def lender_and_borrower(
    *jobs: dict[str, Any],
    until_ms: int = 0,
    policy: dict[str, Any] = CLASSICAL,
    idle: bool = False,
) -> World:
    """Return a cohort of `lender` and `borrower`, 4 CPU each, run to a time.

    With `idle` there is a third queue with 4 CPU, whose jobs never come.
    """
    world = world_of(
        flavor(),
        workload_priority("high", 100),
        *_queue("lender", cohort="all", reclaim="Any"),
        *_queue("borrower", cohort="all", within="LowerPriority", reclaim="Any"),
        *(_queue("idle", cohort="all") if idle else ()),
        *jobs,
        **policy,
    )
    run_to(world, until_ms)
    return world


def _queue(name: str, **spec: Any) -> list[dict[str, Any]]:
    return [cluster_queue(name, **spec), local_queue(name, cluster_queue=name)]


def run_to(world: World, until_ms: int) -> None:
    """Tick a world up to a time, and forget what was decided."""
    while world.context.now_ms < until_ms:
        run_tick(world)
    world.take()


def workload(world: World, name: str) -> Key:
    """Return the key of the Workload of a Job."""
    job_key = Key("Job", "default", name)
    made = world.get(job_key).state["job"]["workload"]
    return Key("Workload", "default", made)


def contended(seed: int, *, fair: bool) -> World:
    """Return a random world at a time when several workloads wait."""
    draw = random.Random(seed)
    manifests = [flavor(), *(workload_priority(f"p{n}", n * 10) for n in range(3))]
    names = ["a", "b", "c", "d"][: draw.randint(2, 4)]
    for name in names:
        manifests += _queue(
            name,
            cohort=draw.choice(["left", "left", "right"]),
            cpu=draw.randint(2, 6),
            borrowing=draw.choice([None, None, 2]),
            lending=draw.choice([None, None, 1]),
            within=draw.choice(["Never", "LowerPriority"]),
            reclaim=draw.choice(["Never", "LowerPriority", "Any"]),
            strategy=draw.choice(["BestEffortFIFO", "StrictFIFO"]),
            weight=draw.choice([None, "2", "0"]),
        )
    for cohort in ("left", "right"):
        manifests.append(_cohort(cohort))
    for number in range(draw.randint(6, 14)):
        manifests.append(
            job(
                f"j{number}",
                queue=draw.choice(names),
                cpu=draw.randint(1, 4),
                priority_class=draw.choice(["", "p1", "p2"]),
                arrival=f"{draw.randint(0, 9)}s",
                runtime=f"{draw.randint(5, 60)}s",
            )
        )
    policy = FAIR if fair else CLASSICAL
    return world_of(*manifests, seed=seed, **policy)


def _cohort(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Cohort",
        "metadata": {"name": name},
        "spec": {"parentName": "root"},
    }


def full_yunikorn() -> World:
    """Four pods of test fill the node; one of prod waits, two asks of its own."""
    world = clusters.world(nodes={"n": "4"})
    for number in range(4):
        world.put(clusters.pod(f"t{number}", "root.test", "1"))
    run_tick(world)
    world.put(clusters.pod("p", "root.prod", "2"))
    for _ in range(3):
        run_tick(world)
    world.take()
    return world


def waiting(world: World) -> list[Key]:
    """Return the Workloads that wait for quota, by key."""
    assert world.kueue is not None
    works = world.kueue.cluster.workloads.values()
    return sorted(work.key for work in works if work.pending_queue is not None)


def put_workload(world: World, name: str, *, queue: str, cpu: str = "1") -> Key:
    """Put a Workload that no cycle has seen yet."""
    requests = {"requests": {"cpu": cpu}}
    container = {"name": "main", "image": "example.com/main", "resources": requests}
    pod_set = {
        "name": "main",
        "count": 1,
        "template": {"spec": {"containers": [container]}},
    }
    key = Key("Workload", "default", name)
    manifest = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"queueName": queue, "podSets": [pod_set]},
    }
    world.put(Object(key=key, manifest=manifest))
    return key
