"""CronJobs make their Jobs in virtual time."""

from __future__ import annotations

import pytest

from scheduler.assembly import InputError
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit
from scheduler.model.objects import Key
from tests.builders import job, node, small_cluster, world_of

MINUTE = 60_000
NAMED = 29539320  # minutes from 1970 to 10:00
START = {"simulation": {"startTime": "2026-03-01T10:00:30Z"}}


def cron_job(runtime: str = "10s", *, queue: str = "", **spec: object) -> dict:
    made = job("x", queue=queue, runtime=runtime)
    template = {"metadata": made["metadata"], "spec": made["spec"]}
    for name in ("name", "namespace"):
        template["metadata"].pop(name)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "default", "uid": "uid-tick"},
        "spec": {"schedule": "* * * * *", "jobTemplate": template, **spec},
    }


def after(minutes: float, *objects: dict, stack: str = "kube") -> World:
    world = world_of(node("n1"), *objects, stack=stack, **START)
    simulate(world, until_ms=int(minutes * MINUTE))
    return world


def jobs_of(world: World) -> list[str]:
    return [key.name for key in world.keys("Job")]


def test_a_job_is_made_each_minute_and_three_that_succeeded_are_kept():
    world = after(5.6, cron_job())
    assert jobs_of(world) == [f"tick-{NAMED + at}" for at in (3, 4, 5, 6)]
    status = world.get(Key("CronJob", "default", "tick")).status
    assert status["lastScheduleTime"] == "2026-03-01T10:06:00Z"


def test_the_jobs_of_a_cron_job_wait_for_quota():
    world = world_of(*small_cluster(), cron_job(queue="main"), **START)
    decisions = simulate(world, until_ms=2 * MINUTE).decisions
    assert sum(isinstance(one, Admit) for one in decisions) == 2


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        ("Allow", ["tick-29539321", "tick-29539322", "tick-29539323"]),
        ("Forbid", ["tick-29539321"]),
        ("Replace", ["tick-29539323"]),
    ],
)
def test_the_concurrency_policy_says_what_becomes_of_an_active_job(policy, left):
    world = after(2.6, cron_job("150s", concurrencyPolicy=policy))
    assert jobs_of(world) == left


def test_a_forbidden_time_is_made_up_for_when_the_active_job_has_ended():
    world = after(3.3, cron_job("150s", concurrencyPolicy="Forbid"))
    assert jobs_of(world) == ["tick-29539321", "tick-29539323"]


def test_a_time_later_than_the_deadline_is_not_made_up_for():
    given = cron_job("150s", concurrencyPolicy="Forbid", startingDeadlineSeconds=20)
    assert jobs_of(after(3.3, given)) == ["tick-29539321"]


def test_a_suspended_cron_job_makes_none():
    assert jobs_of(after(3, cron_job(suspend=True))) == []


def test_a_job_that_came_with_it_counts():
    given = job("tick-29539320", runtime="10m")
    reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick"}
    given["metadata"]["ownerReferences"] = [{**reference, "uid": "uid-tick"}]
    world = after(2, cron_job(concurrencyPolicy="Forbid"), given)
    assert jobs_of(world) == ["tick-29539320"]


def test_its_jobs_go_with_it():
    world = after(1, cron_job("10m"))
    world.delete(Key("CronJob", "default", "tick"))
    assert jobs_of(world) == []


def test_a_world_that_was_stored_makes_the_same_jobs():
    world = after(1, cron_job())
    again = world.copy()
    for one in (world, again):
        simulate(one, until_ms=4 * MINUTE)
    assert again.hash() == world.hash()
    assert len(jobs_of(again)) == 3


def test_a_schedule_that_is_none_is_refused_by_its_field():
    with pytest.raises(InputError, match=r"spec\.schedule: minute: expected 0 to 59"):
        world_of(cron_job(schedule="61 * * * *"))
