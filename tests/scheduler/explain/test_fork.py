"""A fork is the same world, and nobody else's."""

from __future__ import annotations

import pytest

from scheduler.explain.fork import fork
from scheduler.simulation import simulate
from scheduler.tick import run_tick
from tests.builders import cluster_queue, flavor, job, local_queue, node, world_of
from tests.scheduler.explain.worlds import contended, run_to


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
