"""A fork is the same world, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.explain.changes import fork_kueue
from scheduler.analysis.explain.workloads import attempt, explain, explain_with
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import fork
from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, job, local_queue, node, world_of
from tests.scheduler.explain.worlds import contended, run_to, waiting, workload


@pytest.mark.parametrize("seed", range(6))
def test_a_fork_has_the_same_hash_and_the_same_future(seed: int) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    run_to(world, 8_000)
    other = fork(world)
    assert other.hash() == world.hash()
    theirs = simulate(other, until_ms=200_000).decisions
    ours = simulate(world.copy(), until_ms=200_000).decisions
    assert theirs == ours


def test_a_fork_has_what_changed_since_the_world_was_looked_at() -> None:
    world = contended(1, fair=False)
    for _ in range(8):
        run_tick(world)
    assert fork(world).hash() == world.hash()


def test_running_a_fork_leaves_the_world_as_it_is() -> None:
    world = world_of(
        flavor(),
        cluster_queue("main"),
        local_queue("main", cluster_queue="main"),
        node("n"),
        job("j", queue="main", cpu=2, arrival="3s"),
    )
    run_to(world, 2_000)
    before, encoded = world.hash(), world.encode()
    simulate(fork(world), until_ms=100_000)
    assert (world.hash(), world.encode()) == (before, encoded)


def test_a_copy_for_one_cycle_leaves_out_who_waits_behind_another_head() -> None:
    jobs = [job(f"j{n}", queue="main", cpu=2, arrival=f"{n}s") for n in range(6)]
    queue = cluster_queue("main", cpu=2, strategy="StrictFIFO")
    local = local_queue("main", cluster_queue="main")
    world = world_of(flavor(), queue, local, node("n"), *jobs)
    run_to(world, 8_000)
    copied = fork_kueue(world, tried=workload(world, "j4")).cluster.workloads
    assert set(copied) == {workload(world, name) for name in ("j0", "j1", "j4")}


@pytest.mark.parametrize("seed", range(6))
def test_a_copy_for_one_cycle_decides_it_step_by_step_as_a_whole_copy_does(
    seed: int,
) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    run_to(world, 8_000)
    for key in waiting(world):
        steps = [_steps(fork_kueue(world, tried=tried), key) for tried in (key, None)]
        assert steps[0] == steps[1]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999), fair=st.booleans(), at=st.sampled_from([3_000, 8_000]))
def test_an_explanation_is_the_one_by_a_whole_copy(
    seed: int, fair: bool, at: int
) -> None:
    world = contended(seed, fair=fair)
    run_to(world, at)
    for key in world.keys("Workload"):
        assert explain(world, key) == explain_with(world, key, fork_kueue(world))


def _steps(stage: KueueStage, key: Key) -> list[Any]:
    work, trace = stage.cluster.workloads[key], Trace()
    queue = stage.cluster.cluster_queue_of(work)
    assert queue is not None
    attempt(stage, work, queue, trace)
    return trace.steps
