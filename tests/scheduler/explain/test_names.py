"""A Workload is found by its own name and by that of its job."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.sentences import meant, named_object
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import job, small_cluster, world_of

OWN = "Workload/default/job-train-"


@pytest.fixture
def world() -> World:
    made = world_of(*small_cluster(cpu=4), job("train", queue="main", cpu=1))
    for _ in range(3):
        run_tick(made)
    return made


@pytest.mark.parametrize(
    "name", ["train", "default/train", "job/train", "job/default/train", "JOB/train"]
)
def test_a_job_names_its_workload(world, name):
    assert str(named_object(world, name)).startswith(OWN)


def test_a_workload_names_itself(world):
    own = named_object(world, "train")
    assert own is not None
    assert (
        named_object(world, own.name)
        == named_object(world, f"default/{own.name}")
        == own
    )
    assert meant(world, own) == own


@pytest.mark.parametrize("name", ["gone", "other/train", "job/job-train", ""])
def test_a_name_that_nobody_has_names_nothing(world, name):
    assert named_object(world, name) is None


@pytest.mark.parametrize("kind", ["Workload", "Job"])
def test_a_key_of_the_job_means_its_workload(world, kind):
    assert str(meant(world, Key(kind, "default", "train"))).startswith(OWN)


def test_a_key_of_another_kind_means_no_workload(world):
    assert meant(world, Key("Pod", "default", "train")) is None
    assert meant(world, Key("Workload", "other", "train")) is None
