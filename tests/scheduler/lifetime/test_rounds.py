"""The status of a Job whose pods run in rounds, tick by tick."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind
from scheduler.model.durations import read_span
from scheduler.model.jobs import JOB_INDEX, job_index, spans_of
from scheduler.model.objects import Key
from tests.builders import (
    assembled,
    job,
    node,
    pod,
    small_cluster,
    workload_priority,
    world_of,
)

ROUNDS = Key("Job", "default", "rounds")


def in_rounds(
    *more: dict, pod_start_ms: int = 0, kueue: Any = None, **given: Any
) -> World:
    """A job of two pods at once, five in all, 3 s each: three rounds."""
    given = {"parallelism": 2, "completions": 5, "runtime": "3s", **given}
    made = job("rounds", queue="main", **given)
    simulation = {"podStartMs": pod_start_ms}
    cluster = small_cluster(within="LowerPriority")
    policy = {"simulation": simulation} | ({"kueue": kueue} if kueue else {})
    return world_of(*cluster, made, *more, **policy)


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


def evicted_in_the_second_round(*more: dict, **given: Any) -> World:
    """A job of high priority takes the quota from 4 s to 6 s."""
    urgent = job(
        "urgent", queue="main", cpu=4, runtime="2s", priority_class="high", arrival="4s"
    )
    return in_rounds(workload_priority("high", 10), urgent, *more, **given)


def test_an_eviction_leaves_a_job_the_pods_that_have_succeeded():
    world = evicted_in_the_second_round()
    found = counts_at(world, 3, 5, 8, 9, 12)
    assert found == [(2, 2), (2, 0), (2, 2), (4, 1), (5, 0)]


def test_rounds_that_a_checkpoint_keeps_stay_counted():
    world = evicted_in_the_second_round(checkpoint_every="1s")
    found = counts_at(world, 3, 5, 7, 8, 11)
    assert found == [(2, 2), (2, 0), (2, 2), (4, 1), (5, 0)]


def test_only_pods_made_at_the_restart_have_what_a_checkpoint_kept():
    given = {"parallelism": 3, "completions": 9, "checkpoint_every": "1s"}
    blocks = pod("blocks", cpu=2, arrival="4500ms", runtime="100s")
    world = evicted_in_the_second_round(node("n1", cpu=4), blocks, **given)
    # Two places from 6 s on: of 3 s are 2 s left to three pods, not to the fourth.
    assert counts_at(world, 5, 7, 9, 10, 11) == [(3, 0), (3, 3), (5, 3), (6, 3), (7, 2)]


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


def pods_of(world: World) -> list[str]:
    return sorted(one.name for one in world.objects if one.kind == "Pod")


def test_further_completions_have_pods_of_their_own():
    world = in_rounds(node("n1", cpu=8))
    found = []
    for at_ms in (1000, 4000, 7000):
        simulate(world, until_ms=at_ms)
        found.append([name.rpartition("-")[2] for name in pods_of(world)])
    assert found == [["0", "1"], ["2", "3"], ["4"]]


def test_a_further_pod_waits_for_a_place_that_another_got():
    other = pod("other", cpu=1, arrival="1s", runtime="10s")
    world = in_rounds(node("n1", cpu=2), other, completions=4)
    # Its pods come behind the one that waits, which runs from 3 s to 13 s.
    assert counts_at(world, 2, 5, 7, 9) == [(0, 2), (2, 2), (3, 1), (4, 0)]


def test_pods_of_further_completions_take_their_time_to_start():
    world = in_rounds(node("n1", cpu=8), pod_start_ms=1000)
    assert counts_at(world, 3, 4, 7, 8, 11, 12) == [
        *[(0, 2), (2, 2), (2, 2), (4, 1), (4, 1)],
        (5, 0),
    ]


@pytest.mark.parametrize("at_s", [4, 7])
def test_a_stored_world_waits_for_the_place_of_a_further_pod(at_s):
    other = pod("other", cpu=1, arrival="1s", runtime="10s")
    world = in_rounds(node("n1", cpu=2), other, completions=4)
    simulate(world, until_ms=at_s * 1000)
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    assert counts_at(again, 7, 9) == counts_at(world, 7, 9) == [(3, 1), (4, 0)]


@pytest.mark.parametrize(("at_ms", "why"), [(2000, "Recovered"), (4000, "Started")])
def test_pods_that_have_succeeded_count_as_ready(at_ms, why):
    world = in_rounds(node("n1", cpu=2), kueue={"waitForPodsReady": {"timeout": "60s"}})
    simulate(world, until_ms=at_ms)
    world.delete(next(one for one in world.objects if one.kind == "Pod"))
    simulate(world, until_ms=at_ms + 500)
    [workload] = [one for one in world.objects if one.kind == "Workload"]
    conditions = {one["type"]: one for one in world.get(workload).status["conditions"]}
    assert conditions["PodsReady"]["reason"] == why


def by_index(*more: dict, limit: int | None = None, **given: Any) -> World:
    """An Indexed Job that nobody queues, three pods at once and seven in all."""
    made = job("rounds", **{"parallelism": 3, "runtime": "3s", **given})
    made["spec"] |= {"completionMode": "Indexed", "completions": 7}
    if limit is not None:
        made["spec"]["backoffLimitPerIndex"] = limit
    return world_of(node("n1", cpu=8), made, *more, stack="kube")


def running(world: World) -> list[int]:
    """Return the indexes of the pods that have not ended."""
    pods = [world.get(key) for key in world.keys("Pod")]
    going = [one for one in pods if one.status["phase"] in ("Pending", "Running")]
    return sorted(int(one.annotations[JOB_INDEX]) for one in going)


def test_an_indexed_job_fails_when_each_index_has_run_and_failed():
    world = by_index(limit=0, fails_after="2s")
    found = []
    for at_ms in (1000, 3000, 5000, 7000):
        simulate(world, until_ms=at_ms)
        found.append(running(world))
    assert found == [[0, 1, 2], [3, 4, 5], [6], []]
    status = world.get(ROUNDS).status
    assert status["failed"] == 7
    assert status["conditions"][-1]["reason"] == "FailedIndexes"


@pytest.mark.parametrize("limit", [None, 1])
def test_a_pod_in_the_place_of_a_lost_one_has_its_index(limit):
    world = by_index(limit=limit)
    simulate(world, until_ms=4000)
    assert running(world) == [3, 4, 5]
    lost = next(
        k for k in world.keys("Pod") if world.get(k).annotations[JOB_INDEX] == "4"
    )
    again = World.decode(world.encode())
    again.delete(lost)
    simulate(again, until_ms=20_000)
    assert again.get(ROUNDS).status["succeeded"] == 7
    [run] = again.lifetime.runs.values()
    assert run.completed == "0-6"


def lost_index(world: World, index: int) -> Key:
    """Return the pod of this index that has not ended."""
    return next(
        key
        for key in world.keys("Pod")
        if job_index(world.objects[key].annotations) == index
        and world.get(key).status["phase"] == "Running"
    )


def with_back_off(**given: Any) -> World:
    """Two pods at once, the first of which is lost at 1 s; a failure waits for 10 s."""
    tick = node("n2", cpu=0)
    tick["metadata"]["annotations"] = {"quotalab.dev/arrival": "1s"}
    made = by_index(tick, parallelism=2, **given)
    simulate(made, until_ms=1000)
    made.lifetime.steps.spans["termination"] = read_span("1ms")
    made.lifetime.lose_pod(lost_index(made, 0))
    return made


def indexes_at(world: World, *instants_ms: int) -> list[list[int]]:
    found = []
    for at_ms in instants_ms:
        simulate(world, until_ms=at_ms)
        found.append(running(world))
    return found


def test_an_index_in_back_off_holds_back_no_other():
    world = with_back_off(limit=1)
    found = indexes_at(world, 2000, 4000, 7000, 10_000, 12_000, 20_000)
    assert found == [[1], [2], [3], [4], [0, 5], []]
    assert world.get(ROUNDS).status["succeeded"] == 7


def test_a_back_off_ends_when_another_pod_has_succeeded():
    world = with_back_off()
    assert indexes_at(world, 2000, 4000) == [[1], [0, 2]]
    [run] = world.lifetime.runs.values()
    assert (run.lost_pods, run.failures) == (1, 0)  # the next one is 10 s again


def test_failed_indexes_stay_counted_when_the_status_comes_again():
    world = with_back_off(limit=0)
    assert indexes_at(world, 2000) == [[1, 2]]
    status = world.get(ROUNDS).status
    assert status["failedIndexes"] == "0"
    again = by_index(limit=0, parallelism=2)
    again.objects[ROUNDS].status = dict(status)
    assert indexes_at(again, 1000) == [[1, 2]]
    simulate(again, until_ms=60_000)
    assert again.get(ROUNDS).status["failedIndexes"] == "0"
    assert again.get(ROUNDS).status["conditions"][-1]["reason"] == "FailedIndexes"


def by_hand(at: str, *, suspend: bool) -> dict[str, Any]:
    """Return a Change by which a person suspends or resumes the Job at an instant."""
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": f"c-{at}", "annotations": {"quotalab.dev/arrival": at}},
        "spec": {
            "target": {"kind": "Job", "namespace": "default", "name": "rounds"},
            "patch": {"spec": {"suspend": suspend}},
        },
    }


def test_a_job_resumed_by_hand_just_before_its_admission_runs():
    other = job("other", queue="main", cpu=4, runtime="10s")
    waits = job("rounds", queue="main", cpu=2, parallelism=2, arrival="1s")
    waits["metadata"]["annotations"]["quotalab.dev/runtime"] = "20s"
    waits["spec"]["suspend"] = True
    simulation = {"latencies": {"suspension": "2s", "jobStart": "1s"}}
    world = world_of(
        *small_cluster(cpu=4),
        node("n1", cpu=8),
        other,
        waits,
        by_hand("10500ms", suspend=False),
        simulation=simulation,
    )
    assert counts_at(world, 13, 40) == [(0, 2), (2, 0)]


def test_a_suspension_by_hand_does_not_shorten_a_back_off():
    fails = {**by_hand("1s", suspend=True), "metadata": {"name": "f"}}
    fails["metadata"]["annotations"] = {"quotalab.dev/arrival": "1s"}
    fails["spec"] = {"target": {"kind": "Node", "name": "n1"}, "node": "fail"}
    simulation = {"latencies": {"termination": "1s"}}
    world = world_of(
        *small_cluster(cpu=4),
        node("n1", cpu=2),
        node("n2", cpu=2),
        job("rounds", queue="main", parallelism=2, completions=5, runtime="3s"),
        fails,
        by_hand("2s", suspend=True),
        simulation=simulation,
    )
    decisions = simulate(world, until_ms=15_000).decisions
    placed = [one.at_ms for one in decisions if isinstance(one, Bind)]
    assert sorted({at for at in placed if 1000 <= at < 12_000}) == [11_000]


def test_a_further_pod_that_a_quota_refuses_is_tried_when_another_has_ended():
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "pods", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    world = in_rounds(node("n1", cpu=8), quota, completions=4)
    assert counts_at(world, 4, 7, 10, 13) == [(1, 1), (2, 1), (3, 1), (4, 0)]


@pytest.mark.parametrize("mode", ["NonIndexed", "Indexed"])
def test_pods_that_have_succeeded_stay_counted_when_the_workload_goes(mode):
    made = job("rounds", queue="main", parallelism=2, runtime="3s")
    made["spec"] |= {"completions": 5, "completionMode": mode}
    world = world_of(*small_cluster(), node("n1", cpu=8), made)
    assert counts_at(world, 4) == [(2, 2)]
    world.delete(*world.keys("Workload"))
    assert counts_at(world, 5, 7, 10) == [(2, 2), (4, 1), (5, 0)]


@pytest.mark.parametrize("given", [{"succeeded": "x"}, {"completedIndexes": "1-x"}])
def test_a_status_that_counts_nothing_is_as_none(given):
    made = job("rounds", parallelism=2, runtime="3s")
    made["spec"] |= {"completions": 5, "completionMode": "Indexed"}
    world = world_of(node("n1", cpu=8), {**made, "status": given}, stack="kube")
    assert counts_at(world, 1, 4, 10) == [(0, 2), (2, 2), (5, 0)]


@pytest.mark.parametrize(("given", "said"), [("x", True), (-1, True), (3, False)])
def test_a_count_that_is_none_is_found(given, said):
    made = job("rounds") | {"status": {"succeeded": given}}
    findings = assembled(node("n1"), made, stack="kube").loaded.findings
    codes = [one.said.code for one in findings if one.said is not None]
    assert ("missing.succeeded" in codes) == said


def test_a_job_that_came_with_its_pods_counts_those_that_had_succeeded():
    made = job("rounds", parallelism=2, runtime="3s")
    made["metadata"]["uid"] = "u"
    made["spec"]["completions"] = 5
    made["status"] = {"active": 1, "succeeded": 3}
    came = pod("rounds-abcde", cpu=1)
    came["spec"]["nodeName"] = "n1"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "rounds", "uid": "u"}
    came["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    came["status"] = {"phase": "Running"}
    world = world_of(node("n1", cpu=8), made, came, stack="kube")
    assert counts_at(world, 1, 4, 7) == [(3, 2), (5, 0), (5, 0)]
    assert len(world.keys("Pod")) == 0


@pytest.mark.parametrize("seed", range(6))
def test_each_pod_has_an_index_of_its_own_that_has_not_succeeded(seed):
    draw = random.Random(seed)
    nodes = [node(f"n{n}", cpu=2) for n in range(3)]
    changes = []
    for number in range(4):
        target = {"kind": "Node", "name": f"n{draw.randrange(3)}"}
        change = by_hand(f"{draw.randrange(1, 30)}s", suspend=draw.random() < 0.5)
        if draw.random() < 0.7:
            change["spec"] = {
                "target": target,
                "node": draw.choice(["fail", "recover"]),
            }
        change["metadata"]["name"] = f"c{number}"
        changes.append(change)
    made = job("rounds", queue="main", parallelism=3, completions=11, runtime="3s")
    made["spec"]["completionMode"] = "Indexed"
    simulation = {"latencies": {"termination": "1s"}}
    world = world_of(
        *small_cluster(cpu=4), *nodes, made, *changes, simulation=simulation
    )
    for second in range(60):
        simulate(world, until_ms=second * 1000)
        for run in world.lifetime.runs.values():
            indexes = [job_index(world.objects[pod].annotations) for pod in run.pods]
            done = [*spans_of(run.completed)]
            assert len({*indexes}) == len(indexes)
            assert all(index in range(11) for index in indexes)
            assert not any(a <= index <= z for index in indexes for a, z in done)
