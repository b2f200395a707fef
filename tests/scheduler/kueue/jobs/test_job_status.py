"""A job's own fields while Kueue admits, evicts and ends it."""

from __future__ import annotations

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import job, small_cluster, world_of

JOB = Key("Job", "default", "j")


def at(world: World, seconds: int) -> Object:
    simulate(world, until_ms=seconds * 1000)
    return world.get(JOB)


@pytest.fixture
def world() -> World:
    big = job("big", queue="main", cpu=4, runtime="100s")
    mine = job("j", queue="main", cpu=2, parallelism=2, runtime="60s", arrival="1s")
    return world_of(*small_cluster(cpu=4), big, mine)


def test_a_job_that_waits_is_suspended(world):
    found = at(world, 10)
    assert found.spec["suspend"] is True


def test_an_admitted_job_runs_its_pods(world):
    found = at(world, 150)
    assert found.spec["suspend"] is False
    assert found.status["active"] == 2
    assert found.status["startTime"].endswith("Z")


def test_a_job_that_is_done_counts_its_pods(world):
    found = at(world, 400)
    assert found.status["succeeded"] == 2
    assert found.status["active"] == 0
    conditions = [(each["type"], each["status"]) for each in found.status["conditions"]]
    assert conditions == [
        ("Suspended", "False"),
        ("SuccessCriteriaMet", "True"),
        ("Complete", "True"),
    ]
    assert found.status["completionTime"] > found.status["startTime"]


def test_the_workload_of_a_job_that_is_done_says_so_as_kueue_does(world):
    at(world, 400)
    (key,) = (k for k in world.keys("Workload") if k.name.startswith("job-j-"))
    (last,) = (
        c for c in world.get(key).status["conditions"] if c["type"] == "Finished"
    )
    assert last["reason"] == "Succeeded"
    assert last["message"] == "Reached expected number of succeeded pods"
