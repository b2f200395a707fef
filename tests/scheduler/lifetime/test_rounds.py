"""The status of a Job whose pods run in rounds, tick by tick."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import job, node, small_cluster, workload_priority, world_of

ROUNDS = Key("Job", "default", "rounds")


def in_rounds(*more: dict, parallelism: int = 2, **given: Any) -> World:
    """A job of two pods at once, five in all, 3 s each: three rounds."""
    given = {"completions": 5, "runtime": "3s", **given}
    made = job("rounds", queue="main", parallelism=parallelism, **given)
    return world_of(*small_cluster(within="LowerPriority"), made, *more)


def counts(world: World) -> tuple[int, int]:
    """Return `succeeded` and `active` as they stand."""
    status = world.get(ROUNDS).status
    return status.get("succeeded", 0), status["active"]


def counts_at(world: World, *instants_s: int) -> list[tuple[int, int]]:
    found = []
    for at in instants_s:
        simulate(world, until_ms=at * 1000)
        found.append(counts(world))
    return found


def calculated(at_s: int, pods: int, completions: int, each_s: int = 3) -> Any:
    succeeded = min(at_s // each_s * pods, completions)
    return succeeded, min(pods, completions - succeeded)


@pytest.mark.parametrize(("pods", "completions"), [(2, 6), (2, 5), (4, 5), (1, 3)])
@pytest.mark.parametrize("nodes", [[], [node("n1", cpu=8)]], ids=["bare", "nodes"])
def test_each_round_counts_when_its_pods_end(pods, completions, nodes):
    world = in_rounds(*nodes, parallelism=pods, completions=completions)
    instants = range(1, 11)
    assert counts_at(world, *instants) == [
        calculated(at, pods, completions) for at in instants
    ]


def test_an_indexed_job_counts_as_any_other():
    made = job("rounds", queue="main", parallelism=2, completions=5, runtime="3s")
    made["spec"]["completionMode"] = "Indexed"
    world = world_of(*small_cluster(), made)
    assert counts_at(world, 2, 4, 7, 9) == [(0, 2), (2, 2), (4, 1), (5, 0)]


def test_a_job_of_one_round_has_no_more_instants_than_before():
    world = in_rounds(parallelism=3, completions=3)
    simulate(world, until_ms=1000)
    assert [run.rounds for run in world.lifetime.runs.values()] == [None]
    assert world.lifetime.due() == 3000


def test_an_elastic_job_counts_at_its_end():
    made = job("rounds", queue="main", parallelism=2, completions=6, runtime="3s")
    made["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true"
    world = world_of(*small_cluster(), made)
    assert counts_at(world, 4, 7, 9) == [(0, 2), (0, 2), (6, 0)]


def evicted_in_the_second_round(**given: str) -> World:
    """A job of high priority takes the quota from 4 s to 6 s."""
    urgent = job(
        "urgent", queue="main", cpu=4, runtime="2s", priority_class="high", arrival="4s"
    )
    return in_rounds(workload_priority("high", 10), urgent, **given)


def test_an_eviction_leaves_a_job_the_pods_that_have_succeeded():
    world = evicted_in_the_second_round()
    found = counts_at(world, 3, 5, 8, 9, 12)
    assert found == [(2, 2), (2, 0), (2, 2), (4, 1), (5, 0)]


def test_rounds_that_a_checkpoint_keeps_stay_counted():
    world = evicted_in_the_second_round(checkpoint_every="1s")
    found = counts_at(world, 3, 5, 7, 8, 11)
    assert found == [(2, 2), (2, 0), (2, 2), (4, 1), (5, 0)]


def test_a_job_that_fails_keeps_what_succeeded():
    world = in_rounds(fails_after="4s")
    assert counts_at(world, 4) == [(2, 0)]
    assert world.get(ROUNDS).status["failed"] == 2  # the pods of the round


def test_fewer_pods_than_asked_make_smaller_rounds():
    made = job("rounds", queue="main", parallelism=6, runtime="3s")
    made["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1"
    world = world_of(*small_cluster(cpu="4"), made)
    assert counts_at(world, 4, 6) == [(4, 2), (6, 0)]


@pytest.mark.parametrize("at_s", [2, 3, 4, 6, 7])
def test_a_stored_world_goes_on_within_a_round(at_s):
    world = evicted_in_the_second_round(checkpoint_every="1s")
    simulate(world, until_ms=at_s * 1000)
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    later = range(at_s + 1, 13)
    assert counts_at(again, *later) == counts_at(world, *later)
    assert again.hash() == world.hash()


def test_looking_at_a_job_changes_nothing():
    looked, unseen = in_rounds(), in_rounds()
    counts_at(looked, *range(1, 8))
    simulate(unseen, until_ms=7000)
    assert looked.hash() == unseen.hash()
