"""What a fork shares with its world stays as it is, whichever of both goes on."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model.objects import Key, Object
from tests.builders import node, small_cluster, world_of
from tests.scheduler.lifetime.test_elastic_jobs import elastic, scaled
from tests.scheduler.lifetime.test_pod_groups import member


def growing_job() -> World:
    """Return a job that is scaled at 10 s: its pods get another Workload."""
    return world_of(
        *small_cluster(cpu=6),
        node("n", cpu=8),
        elastic(2, runtime="60s"),
        scaled("10s", 4),
    )


def group_that_gets_another_pod() -> World:
    """Return a group of two whose second pod comes at 10 s."""
    return world_of(
        *small_cluster(cpu=6),
        node("n", cpu=8),
        member("a", fast=True),
        member("b", fast=True, arrival="10s"),
    )


def later(world: World) -> None:
    simulate(world, until_ms=30_000)


def documents(world: World) -> dict[Key, Object]:
    world.freshen()
    return {
        key: Object(
            key=key,
            manifest=copy.deepcopy(obj.manifest),
            status=copy.deepcopy(obj.status),
            state=copy.deepcopy(obj.state),
        )
        for key, obj in world.objects.items()
    }


@pytest.mark.parametrize("forked", [True, False], ids=["the fork", "the world"])
@pytest.mark.parametrize("begin", [growing_job, group_that_gets_another_pod])
def test_one_that_goes_on_leaves_the_documents_of_the_other(
    begin: Callable[[], World], forked: bool
) -> None:
    world = begin()
    simulate(world, until_ms=5_000)
    other = fork(world)
    going, staying = (other, world) if forked else (world, other)
    before = documents(staying)
    later(going)
    assert documents(staying) == before


@pytest.mark.parametrize("spec", [None, [], [1], "x", {"podSets": "x"}])
@pytest.mark.parametrize("kind", ["Widget", "Workload"])
def test_an_object_of_any_shape_is_in_a_fork_what_it_is_in_its_world(
    kind: str, spec: object
) -> None:
    kept = {
        "apiVersion": "example.com/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": "default"},
        "spec": spec,
    }
    world = world_of(*small_cluster(), kept)
    assert fork(world).hash() == world.hash()


def test_a_node_without_a_spec_is_in_a_fork_what_it_is_in_its_world() -> None:
    world = world_of(*small_cluster(), node("n") | {"spec": None})
    assert fork(world).hash() == world.hash()
