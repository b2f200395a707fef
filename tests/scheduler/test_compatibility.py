"""A world goes on by the decisions that it was made with.

Why: docs/decisions/worlds-keep-their-decisions.md.
"""

from __future__ import annotations

import copy

import msgspec
import pytest

from scheduler.analysis.explain.fork import fork_kueue
from scheduler.engine.forking import fork
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import decode_world, encode_header
from scheduler.model.compatibility import AS_SEEN, NEWEST
from scheduler.model.decisions import Finish
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.policy import read_policy
from tests.builders import job, node, small_cluster, world_of


def made_before(*manifests: dict) -> World:
    """Return a world as a version wrote it that knew of no levels."""
    header, objects = decode_world(world_of(*manifests).encode())
    before = msgspec.structs.replace(header, compatibility=msgspec.UNSET)
    return World.load(before, objects)


def ends(world: World) -> list[tuple[str, str]]:
    decided = simulate(world, until_ms=60_000).decisions
    return [(d.reason, d.message) for d in decided if isinstance(d, Finish)]


JOB = job("j", queue="main", runtime="30s")
OLD = [("JobFinished", "Job finished successfully")]
NEW = [("Succeeded", "Reached expected number of succeeded pods")]


def test_a_new_world_says_of_a_finished_job_what_kueue_takes_from_it():
    assert ends(world_of(*small_cluster(), JOB)) == NEW


def test_a_world_of_before_goes_on_by_the_words_it_had():
    assert ends(made_before(*small_cluster(), JOB)) == OLD


@pytest.mark.parametrize(
    "again", [World.copy, fork, lambda w: World.decode(w.encode())]
)
def test_what_is_made_of_a_world_of_before_keeps_them(again):
    assert ends(again(made_before(*small_cluster(), JOB))) == OLD


def test_another_policy_does_not_change_them():
    world = made_before(*small_cluster(), JOB)
    world.set_policy(read_policy({"spec": {"simulation": {"tickMs": 2000}}}))
    assert ends(world) == OLD
    assert fork_kueue(world).life.context.compatibility == 0


def test_the_header_of_a_world_of_before_is_the_one_it_was():
    header = made_before().header()
    assert b"compatibility" not in encode_header(header)
    assert b"compatibility" in encode_header(world_of().header())


def test_a_worker_cluster_decides_as_its_manager():
    world = made_before()
    assert world.worker_world("east", 1, {}, []).context.compatibility == 0


def test_a_world_of_a_later_version_is_refused():
    header = msgspec.structs.replace(world_of().header(), compatibility=NEWEST + 1)
    with pytest.raises(SchedulerError, match="update this program"):
        World(header)


def test_the_pods_of_a_deployment_count_once_in_a_new_world_alone():
    container = {
        "name": "main",
        "image": "example.com/main",
        "resources": {"requests": {"cpu": "1"}},
    }
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container]},
            },
        },
    }
    header, objects = decode_world(world_of(node("n1"), web, stack="kube").encode())
    counted = []
    for level in (AS_SEEN, NEWEST):
        world = World.load(
            msgspec.structs.replace(header, compatibility=level),
            [*copy.deepcopy(objects)],
        )
        simulate(world, until_ms=10_000)
        status = world.get(Key("Deployment", "default", "web")).status
        counted.append(status["replicas"])
    assert counted == [4, 2]
