"""Elastic jobs: scaled while they run, by slices that take one another's quota."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler.analysis.explain.workloads import explain
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Evict, Finish, Preempt
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import true_condition
from tests.builders import (
    cluster_queue,
    job,
    local_queue,
    node,
    small_cluster,
    workload_priority,
    world_of,
)
from tests.invariants import violations

JOB = {"kind": "Job", "name": "grow", "namespace": "default"}
ELASTIC = "kueue.x-k8s.io/elastic-job"


def elastic(parallelism: int, *, completions: int | None = None, **given: Any) -> dict:
    made = job("grow", queue="main", parallelism=parallelism, **given)
    made["spec"]["completions"] = completions or 12
    made["metadata"]["annotations"][ELASTIC] = "true"
    return made


def scaled(at: str, parallelism: int) -> dict[str, Any]:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {
            "name": f"to-{parallelism}",
            "annotations": {"quotalab.dev/arrival": at},
        },
        "spec": {"target": JOB, "patch": {"spec": {"parallelism": parallelism}}},
    }


def slices(world: World) -> list[Object]:
    """Return the Workloads of the job, oldest first."""
    found = [world.get(key) for key in world.keys("Workload")]
    ours = [w for w in found if w.key.name.startswith("job-grow")]
    return sorted(ours, key=lambda w: w.metadata["creationTimestamp"])


def usage(world: World) -> str:
    status = world.get(Key("ClusterQueue", "", "main")).status
    (flavor,) = status["flavorsReservation"]
    return str(flavor["resources"][0]["total"])


def pods(world: World) -> list[Object]:
    return [world.get(key) for key in world.keys("Pod")]


def test_a_grown_job_runs_on_while_its_new_slice_takes_over_the_quota():
    world = world_of(
        *small_cluster(cpu=6), node("n", cpu=8), elastic(2, runtime="60s"),
        scaled("10s", 6),
    )  # fmt: skip
    outcome = simulate(world, until_ms=10_000)
    old, new = slices(world)
    finished = true_condition(old.status, "Finished")
    assert finished is not None
    assert (finished["reason"], finished["message"]) == (
        "WorkloadSliceReplaced",
        f"Replaced to accommodate a workload (UID: {new.uid}, JobUID: "
        f"{new.labels['kueue.x-k8s.io/job-uid']}) due to workload slice aggregation",
    )
    assert new.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] == (
        old.key.path
    )
    assert usage(world) == "6"
    assert len(pods(world)) == 6
    assert not [d for d in outcome.decisions if isinstance(d, Evict | Preempt)]
    assert world.get(Key("Job", "default", "grow")).spec["suspend"] is False


def test_what_is_left_of_the_work_takes_as_many_rounds_as_the_pods_need_now():
    world = world_of(
        *small_cluster(cpu=6), elastic(2, runtime="60s"), scaled("180s", 6)
    )
    outcome = simulate(world, until_ms=400_000)
    (end,) = [
        d
        for d in outcome.decisions
        if isinstance(d, Finish) and d.reason == "Succeeded"
    ]
    # Six rounds of 60 s; half is done after 180 s, and 180 s of six rounds are
    # 60 s of the two that six pods at once need.
    assert end.at_ms == 240_000


def test_a_shrunk_job_gives_quota_back_in_place():
    world = world_of(
        *small_cluster(cpu=6), node("n", cpu=8), elastic(6, runtime="60s"),
        scaled("10s", 2), job("next", queue="main", parallelism=4, arrival="5s"),
    )  # fmt: skip
    outcome = simulate(world, until_ms=10_000)
    (only,) = slices(world)
    assert only.spec["podSets"][0]["count"] == 2
    assert true_condition(only.status, "Admitted") is not None
    admitted = [d for d in outcome.decisions if isinstance(d, Admit)]
    assert [d.at_ms for d in admitted] == [0, 10_000]
    ours = [p for p in pods(world) if p.key.name.startswith(only.key.name)]
    assert len(ours) == 2
    assert usage(world) == "6"


def test_a_job_that_waits_is_resized_where_it_waits():
    world = world_of(*small_cluster(cpu=3), elastic(6), scaled("10s", 3))
    simulate(world, until_ms=10_000)
    (only,) = slices(world)
    assert true_condition(only.status, "Admitted") is not None


def test_a_resized_slice_keeps_what_was_edited_in_it_alone():
    world = world_of(*small_cluster(cpu=1), elastic(6))
    simulate(world, until_ms=1_000)
    (only,) = slices(world)
    metadata = copy.deepcopy(only.metadata)
    metadata["annotations"]["kueue.x-k8s.io/priority-boost"] = "5"
    edited = {
        **only.manifest,
        "metadata": metadata,
        "spec": {**only.spec, "active": False},
    }
    world.put(Object(key=only.key, manifest=edited))
    world.put(Object(key=Key("Job", "default", "grow"), manifest=elastic(1)))
    simulate(world, until_ms=2_000)
    (only,) = slices(world)
    assert only.spec["podSets"][0]["count"] == 1
    assert only.spec["active"] is False
    assert only.annotations["kueue.x-k8s.io/priority-boost"] == "5"


def test_a_slice_that_does_not_fit_waits_and_the_old_one_runs_on():
    world = world_of(*small_cluster(cpu=4), elastic(2, runtime="60s"), scaled("10s", 6))
    simulate(world, until_ms=20_000)
    old, new = slices(world)
    assert true_condition(old.status, "Admitted") is not None
    reserved = next(c for c in new.status["conditions"] if c["type"] == "QuotaReserved")
    # Four more are asked for, and four is all that there is.
    assert reserved["message"] == (
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu "
        "in flavor default, 2 more needed"
    )
    assert usage(world) == "2"


def test_the_explanations_of_two_slices_name_each_other():
    world = world_of(*small_cluster(cpu=4), elastic(2, runtime="60s"), scaled("10s", 6))
    simulate(world, until_ms=20_000)
    old, new = slices(world)
    assert f"{new.key.name} waits" in explain(world, old.key).sentences[0]
    said = explain(world, new.key)
    assert said.sentences[0].startswith(f"It is to replace {old.key.name}")
    assert said.flavors[0].requested == "4000"


def test_the_old_slice_holds_what_the_new_one_needs_and_may_not_go():
    world = world_of(*small_cluster(cpu=4), elastic(2, runtime="60s"), scaled("10s", 6))
    simulate(world, until_ms=20_000)
    said = explain(world, slices(world)[1].key).sentences
    assert "Preemption: 1 workload holds what is needed, and it may not go." in said


def test_a_slice_that_waits_follows_further_edits():
    world = world_of(
        *small_cluster(cpu=4), elastic(2, runtime="60s"), scaled("10s", 6),
        scaled("20s", 4),
    )  # fmt: skip
    simulate(world, until_ms=20_000)
    old, new = slices(world)
    assert true_condition(old.status, "Finished") is not None
    assert new.spec["podSets"][0]["count"] == 4
    assert usage(world) == "4"


def test_the_slice_that_waits_ends_with_the_job():
    world = world_of(
        *small_cluster(cpu=4), elastic(2, completions=2, runtime="30s"),
        scaled("10s", 6),
    )  # fmt: skip
    world.objects[Key("Job", "default", "grow")].spec["completions"] = None
    simulate(world, until_ms=100_000)
    for one in slices(world):
        assert true_condition(one.status, "Finished") is not None
    assert usage(world) == "0"


def test_a_slice_that_goes_to_another_queue_leaves_no_quota_behind():
    world = world_of(
        *small_cluster(cpu=4), cluster_queue("other", cpu=4),
        local_queue("other", cluster_queue="other"), elastic(2, runtime="60s"),
    )  # fmt: skip
    simulate(world, until_ms=1_000)
    moved = elastic(3, runtime="60s")
    moved["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "other"
    world.put(Object(key=Key("Job", "default", "grow"), manifest=moved))
    simulate(world, until_ms=2_000)
    queues = {
        one.spec["queueName"]: true_condition(one.status, "Finished")
        for one in slices(world)
    }
    finished = queues.pop("main")
    assert finished is not None
    assert finished["message"] == "Replaced to accommodate a new workload slice"
    assert queues == {"other": None}
    assert usage(world) == "0"
    assert not list(violations(world))


def test_the_new_slice_is_an_ordinary_workload_when_the_old_one_is_preempted():
    world = world_of(
        *small_cluster(cpu=4, within="LowerPriority"),
        workload_priority("high", 10),
        elastic(2, runtime="60s"),
        scaled("10s", 6),
        job("vip", queue="main", parallelism=4, priority_class="high",
            arrival="20s", runtime="30s"),
    )  # fmt: skip
    simulate(world, until_ms=20_000)
    old, new = slices(world)
    finished = true_condition(old.status, "Finished")
    assert finished is not None
    assert finished["message"] == "Replaced to accommodate a new workload slice"
    assert true_condition(new.status, "Finished") is None
    assert world.get(Key("Job", "default", "grow")).spec["suspend"] is True


def test_without_the_gate_an_elastic_job_is_an_ordinary_one():
    world = world_of(
        *small_cluster(cpu=6), elastic(2, runtime="60s"), scaled("10s", 6),
        kueue={"featureGates": {"ElasticJobsViaWorkloadSlices": False}},
    )  # fmt: skip
    simulate(world, until_ms=10_000)
    assert len(slices(world)) == 1


@pytest.mark.parametrize("at_ms", [9_000, 10_000, 15_000])
def test_a_restored_world_scales_as_the_first_would(at_ms):
    given = [
        *small_cluster(cpu=6), node("n", cpu=8), elastic(2, runtime="60s"),
        scaled("10s", 6), scaled("30s", 3),
    ]  # fmt: skip
    whole = world_of(*given)
    simulate(whole, until_ms=100_000)
    first = world_of(*given)
    simulate(first, until_ms=at_ms)
    again = World.decode(first.encode())
    simulate(again, until_ms=100_000)
    assert again.hash() == whole.hash()
    assert not list(violations(again))
