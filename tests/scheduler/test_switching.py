"""After a live switch of the stack the world goes on as one read from its rows would."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key
from scheduler.model.policy import read_policy
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
    two_leaves,
    world_of,
)

LABELS: tuple[dict[str, str], ...] = (
    {},
    {"applicationId": "app-{0}", "queue": "root.{1}"},
    {"applicationId": "one"},
    {"applicationId": "app-{1}"},
)
QUEUES = two_leaves()


def mixed_world(draw: random.Random, labels: dict[str, str]) -> World:
    """Return jobs with quota, and pods of two schedulers, that come over 12 ticks."""
    pods = [_pod(draw, n, labels) for n in range(10)]
    jobs = [
        job(f"job-{n}", queue="main", cpu=1 + n % 3, arrival=f"{n}s", runtime="5s")
        for n in range(8)
    ]
    queues = [
        flavor(),
        cluster_queue("cq", cpu=4),
        local_queue("main", cluster_queue="cq"),
    ]
    nodes = node("n1", cpu=4), node("n2", cpu=3)
    return world_of(*queues, *jobs, *pods, *nodes, stack="kueue")


def _pod(draw: random.Random, n: int, labels: dict[str, str]) -> dict[str, Any]:
    made = pod(
        f"pod-{n}",
        cpu=1 + n % 2,
        labels={k: v.format(n % 3, "ab"[n % 2]) for k, v in labels.items()},
        arrival=f"{draw.randrange(12)}s",
        runtime=f"{draw.randrange(1, 9)}s",
    )
    if draw.random() < 0.5:
        made["spec"]["schedulerName"] = "yunikorn"
    return made


def switch(world: World, stack: str) -> None:
    document = world.policy.document()
    document["spec"]["stack"] = stack
    document["spec"]["yunikorn"]["queues"] = QUEUES
    world.set_policy(read_policy(document))


def ticks(world: World, count: int) -> None:
    for _ in range(count):
        run_tick(world)
        world.take()


@pytest.mark.parametrize("seed", range(24))
def test_a_switched_world_goes_on_as_its_rows_would(seed):
    draw = random.Random(seed)
    lived = mixed_world(draw, LABELS[seed % 4])
    for _ in range(8):
        switch(lived, draw.choice(("kube", "kueue", "yunikorn", "yunikorn")))
        ticks(lived, draw.choice((0, 1, 1, 2, 4)))
        read = lived.copy()
        for _ in range(3):
            ticks(lived, 1)
            ticks(read, 1)
            assert read.hash() == lived.hash()


def test_a_stack_that_comes_back_remembers_nothing_of_its_first_time():
    world = mixed_world(random.Random(0), LABELS[1])
    for stack in ("yunikorn", "kube"):
        switch(world, stack)
        ticks(world, 5)
    assert not any("yunikorn" in obj.state for obj in world.objects.values())


@pytest.mark.parametrize("seed", range(8))
def test_a_change_of_policy_takes_nothing_that_an_object_knows(seed):
    draw = random.Random(seed)
    world = mixed_world(draw, LABELS[seed % 4])
    ticks(world, draw.randrange(1, 12))
    known = {key: set(obj.state) for key, obj in world.objects.items()}
    spec = world.policy.document()["spec"]
    spec["simulation"]["defaultRuntime"] = "7m"
    world.set_policy(read_policy({"spec": spec}))
    assert {key: set(obj.state) for key, obj in world.objects.items()} == known


def test_a_change_of_policy_leaves_a_job_its_workload():
    world = world_of(*small_cluster(), job("j", queue="main", cpu=1))
    run_tick(world)
    run_tick(world)
    assert world.keys("Workload")
    spec = world.policy.document()["spec"]
    spec["simulation"]["defaultRuntime"] = "7m"
    world.set_policy(read_policy({"spec": spec}))
    world.delete(Key("Job", "default", "j"))
    run_tick(world)
    assert list(world.keys("Workload")) == []
