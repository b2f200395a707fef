"""Retention: Workloads that are over are deleted when their time has come."""

from __future__ import annotations

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Edit
from scheduler.model.errors import PolicyError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.objects import Key
from scheduler.model.reasons import true_condition
from tests.builders import job, small_cluster, world_of

JOB = Key("Job", "default", "one")


def kept_for(**times: str) -> dict:
    return {"objectRetentionPolicies": {"workloads": times}}


def test_a_finished_workload_goes_after_its_time_and_its_job_stays():
    world = world_of(
        *small_cluster(), job("one", queue="main", runtime="10s"),
        kueue=kept_for(afterFinished="30s"),
    )  # fmt: skip
    simulate(world, until_ms=39_999)
    assert len(world.keys("Workload")) == 1
    outcome = simulate(world, until_ms=40_000)
    assert world.keys("Workload") == []
    done = world.get(JOB)
    assert true_condition(done.status, "Complete") is not None
    assert done.spec["suspend"] is False
    (edit,) = [d for d in outcome.decisions if isinstance(d, Edit)]
    assert edit.message == "Deleted finished workload due to elapsed retention"


def test_a_job_whose_workload_is_gone_does_not_run_again_when_it_is_edited():
    world = world_of(
        *small_cluster(), job("one", queue="main", runtime="10s"),
        kueue=kept_for(afterFinished="0s"),
    )  # fmt: skip
    simulate(world, until_ms=20_000)
    again = world.get(JOB)
    world.put(type(again)(key=JOB, manifest={**again.manifest, "spec": {
        **again.spec, "parallelism": 2}}))  # fmt: skip
    simulate(world, until_ms=30_000)
    assert world.keys("Workload") == []


def late_pods(**times: str) -> World:
    given = job("one", queue="main", ready_after="1h")
    waiting = {
        "waitForPodsReady": {
            "timeout": "10s",
            "requeuingStrategy": {"backoffLimitCount": 0},
        }
    }
    return world_of(*small_cluster(), given, kueue={**waiting, **kept_for(**times)})


def test_what_kueue_gave_up_goes_with_its_job():
    world = late_pods(afterDeactivatedByKueue="20s")
    simulate(world, until_ms=29_999)
    assert world.get(world.keys("Workload")[0]).status["conditions"]
    simulate(world, until_ms=30_000)
    assert world.keys("Workload") == []
    assert JOB not in world.objects


def test_what_has_no_time_stays():
    world = late_pods(afterFinished="1s")
    simulate(world, until_ms=100_000)
    assert JOB in world.objects


def test_a_restored_world_deletes_at_the_same_instant():
    world = world_of(
        *small_cluster(), job("one", queue="main", runtime="10s"),
        kueue=kept_for(afterFinished="30s"),
    )  # fmt: skip
    simulate(world, until_ms=20_000)
    again = World.decode(world.encode())
    simulate(again, until_ms=40_000)
    assert again.keys("Workload") == []


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"afterFinished": "soon"}, "workloads.afterFinished"),
        ({"afterFinished": "-1s"}, "workloads.afterFinished"),
        ({"later": "1s"}, "workloads.later"),
    ],
)
def test_a_wrong_retention_is_refused_with_its_path(given, path):
    with pytest.raises(PolicyError, match=path):
        read_configuration(kept_for(**given))
