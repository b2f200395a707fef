"""The kubelet of a node rejects a pod that was bound to it and that it cannot take."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.explain.answers import answers
from scheduler.analysis.explain.past import DecidedPast
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Fail, Finish
from scheduler.model.objects import Key
from tests.builders import job, node, pod, world_of

STACKS = ("kube", "yunikorn")


def bound(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    """Return a pod that names its node."""
    made = pod(name, cpu=cpu, runtime="1h")
    made["spec"] |= {"nodeName": "n1", **spec}
    return made


def phase(world: World, name: str) -> str | None:
    found: str | None = world.objects[Key("Pod", "default", name)].status.get("phase")
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_a_pod_made_with_its_node_fails_there_without_room(stack: str) -> None:
    world = world_of(node("n1", cpu=1), bound("big"), stack=stack)
    simulate(world, until_ms=5000)
    status = world.objects[Key("Pod", "default", "big")].status
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"] == (
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, "
        "used: 0, capacity: 1000"
    )


@pytest.mark.parametrize("stack", STACKS)
def test_the_second_of_two_bound_pods_fails_where_one_fits(stack: str) -> None:
    world = world_of(node("n1", cpu=4), bound("a", "3"), bound("b", "3"), stack=stack)
    simulate(world, until_ms=5000)
    assert [phase(world, name) for name in "ab"] == [None, "Failed"]


def test_a_pod_that_selects_other_nodes_is_rejected_by_name() -> None:
    world = world_of(node("n1", cpu=8), bound("a", nodeSelector={"zone": "b"}))
    simulate(world, until_ms=5000)
    status = world.objects[Key("Pod", "default", "a")].status
    assert status["reason"] == "NodeAffinity"


def test_an_extended_resource_that_the_node_lacks_is_not_looked_at() -> None:
    given = bound("a", "1")
    given["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "1"
    world = world_of(node("n1", cpu=8), given)
    simulate(world, until_ms=5000)
    assert phase(world, "a") is None


def test_a_resource_that_a_file_does_not_state_of_a_node_is_not_looked_at() -> None:
    bare = node("n1", cpu=8)
    del bare["status"]["allocatable"]["pods"]
    world = world_of(bare, bound("a", "1"))
    simulate(world, until_ms=5000)
    assert phase(world, "a") is None


def test_a_rejected_pod_leaves_its_room_to_the_next() -> None:
    world = world_of(
        node("n1", cpu=4), bound("a", "3"), bound("b", "2"), bound("c", "1")
    )
    simulate(world, until_ms=5000)
    assert [phase(world, name) for name in "abc"] == [None, "Failed", None]


def test_a_pod_that_comes_later_is_held_against_what_runs_there() -> None:
    later = bound("b", "3")
    later["metadata"]["annotations"]["quotalab.dev/arrival"] = "2s"
    world = world_of(node("n1", cpu=4), bound("a", "3"), later)
    simulate(world, until_ms=5000)
    assert [phase(world, name) for name in "ab"] == [None, "Failed"]


def test_a_pod_that_already_runs_is_not_asked_again() -> None:
    given = bound("a")
    given["status"] = {"phase": "Running"}
    world = world_of(node("n1", cpu=1), given)
    simulate(world, until_ms=5000)
    assert phase(world, "a") == "Running"


def test_rejected_pods_of_a_job_count_as_failed_ones() -> None:
    given = job("j", cpu="4", runtime="10s")
    given["spec"]["backoffLimit"] = 1
    given["spec"]["template"]["spec"]["nodeName"] = "n1"
    world = world_of(node("n1", cpu=1), given)
    decisions = simulate(world, until_ms=120_000).decisions
    assert len([one for one in decisions if isinstance(one, Fail)]) == 2
    ended = [one for one in decisions if isinstance(one, Finish)]
    assert [(one.subject.kind, one.reason) for one in ended] == [("Job", "Failed")]


def test_explain_says_why_the_kubelet_rejected_it() -> None:
    world = world_of(node("n1", cpu=1), bound("big"))
    past = DecidedPast(simulate(world, until_ms=5000).decisions)
    (answer,) = answers(world, "big", past)
    assert "OutOfcpu: Pod was rejected" in answer.said[-1].text


def test_a_rejected_pod_of_an_indexed_job_fails_its_index() -> None:
    made = job("j", cpu="1500m", parallelism=3, runtime="30s")
    made["spec"] |= {"completionMode": "Indexed", "backoffLimitPerIndex": 0}
    made["spec"]["template"]["spec"]["nodeName"] = "n1"
    world = world_of(node("n1", cpu=2), made, stack="kube")
    simulate(world, until_ms=600_000)
    status = world.get(Key("Job", "default", "j")).status
    assert status["failed"] == 2
    assert status["conditions"][-1]["reason"] == "FailedIndexes"
