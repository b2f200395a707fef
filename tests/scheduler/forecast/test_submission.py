"""When work would start that does not exist yet, and in which queue soonest."""

from __future__ import annotations

import io

import pytest
import yaml

from scheduler.analysis.forecast.submission import forecast_submission, read_submission
from scheduler.cli.forecast import main
from scheduler.engine.tick import advance
from scheduler.model.errors import SchedulerError
from tests.builders import (
    cluster_queue,
    job,
    local_queue,
    small_cluster,
    world_of,
)


def two_queues():
    """Return a world with a full queue, six jobs of 60 s ended in it, and an idle one."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="60s") for n in range(9)]
    idle = [cluster_queue("idle", cpu="4"), local_queue("idle", cluster_queue="idle")]
    world = world_of(*small_cluster(cpu="4"), *idle, *jobs)
    advance(world, 390_000)
    world.take()
    return world


def submit(world, *manifests, **options):
    text = yaml.safe_dump_all(manifests)
    objects = read_submission(world, [("new.yaml", text)])
    given = {"futures": 4, "seed": 1, "horizon_ms": 3_600_000} | options
    return forecast_submission(world, objects, **given)


def test_the_idle_queue_is_named_soonest_and_nothing_is_submitted():
    world = two_queues()
    before = world.hash()
    found = submit(world, job("new", queue="main", cpu="4"), queues=["all"])
    assert world.hash() == before
    assert found.soonest == "default/idle"
    first, second = found.starts
    assert (first.queue, first.p90_ms) == ("default/idle", 0)
    assert second.p10_ms > 60_000  # behind two that wait


def test_without_queues_it_is_the_manifests_own():
    found = submit(two_queues(), job("new", queue="main", cpu="4"))
    assert [one.queue for one in found.starts] == ["default/main"]


def test_a_queue_that_never_lets_it_in_says_what_it_waits_for():
    found = submit(two_queues(), job("new", queue="main", cpu="64"), queues=["all"])
    assert found.soonest is None
    for one in found.starts:
        assert (one.p10_ms, one.chances[-1].chance) == (None, 0)
        assert "insufficient quota" in one.message


def test_a_job_without_a_queue_is_tried_in_those_that_are_named():
    found = submit(two_queues(), job("new", cpu="4"), queues=["idle", "default/main"])
    assert found.soonest == "default/idle"
    assert len(found.starts) == 2


def test_workloads_of_jobs_that_came_at_the_same_instant_are_not_its_own():
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="60s") for n in range(3)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    found = submit(world, job("new", queue="main", cpu="4"))
    assert found.starts[0].workload.startswith("Workload/default/job-new-")


def test_a_time_that_is_asked_for_is_among_the_chances():
    new = job("new", queue="main", cpu="4")
    found = submit(two_queues(), new, within_ms=[1_234_567])
    assert 1_234_567 in [one.within_ms for one in found.starts[0].chances]


@pytest.mark.parametrize(
    ("manifests", "queues", "words"),
    [
        ([job("train-1", queue="main", cpu="4")], (), "is there already"),
        ([job("new", queue="main", cpu="4")], ["else"], "there are: default/idle"),
        ([local_queue("third", cluster_queue="main")], ["main"], "one Workload"),
        ([job("new", cpu="4")], (), "names its queue"),
        ([{"kind": "Job"}], (), "apiVersion"),
    ],
)
def test_what_cannot_be_submitted_is_an_error(manifests, queues, words):
    with pytest.raises(SchedulerError, match=words):
        submit(two_queues(), *manifests, queues=queues)


def test_the_command_names_the_soonest_queue(tmp_path):
    world, new = tmp_path / "world.yaml", tmp_path / "new.yaml"
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="60s") for n in range(3)]
    world.write_text(yaml.safe_dump_all([*small_cluster(cpu="4"), *jobs]))
    new.write_text(yaml.safe_dump(job("new", queue="main", cpu="4")))
    out = io.StringIO()
    arguments = [str(world), "--at", "10s", "--futures", "2", "--submit", str(new)]
    assert main([*arguments, "--queues", "all"], out) == 0
    assert "a guess" in out.getvalue()  # nothing finished yet
    assert out.getvalue().splitlines()[-1] == "soonest in default/main"
