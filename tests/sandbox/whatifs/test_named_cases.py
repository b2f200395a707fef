"""Cases that were told wrongly once, each as a small world, one change and one claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sandbox.whatifs.changes import operation_of
from sandbox.world import operations
from scheduler.analysis.measures.bill import chain_of
from scheduler.analysis.measures.verdict import ChangeVerdict, WorkloadVerdict
from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from tests.builders import job, node, pod, queue_tree, small_cluster, world_of
from tests.scheduler.kube.test_gangs import ON, group

LIBRARY = Path(operations.__file__).parents[1] / "scenarios"
MINUTE_MS = 60_000


def verdict_of(world: World, ticks: int, *asked: dict[str, Any]) -> ChangeVerdict:
    """Return what changes make different so many ticks on, within ten minutes."""
    for _ in range(ticks):
        run_tick(world)
    world.take()
    operation = operation_of(world, asked)
    found = compare_pair(
        world,
        lambda side: operations.perform(side, operation),
        horizon_ms=10 * MINUTE_MS,
    )
    return found.seeds[0].verdict


def rows_of(found: ChangeVerdict) -> dict[str, WorkloadVerdict]:
    return {row.subject.rpartition("/")[2]: row for row in found.workloads}


def test_what_starts_and_is_evicted_is_not_told_as_never_starting() -> None:
    world = assemble(read_sources([LIBRARY / "friday-rush"])).world
    move = {
        "move": {
            "kind": "Job",
            "namespace": "ml-training",
            "name": "reward-model-0003",
            "to": {"kind": "ClusterQueue", "namespace": "", "name": "research"},
        }
    }
    found = verdict_of(world, 78, move)
    evicted = [row for row in found.workloads if row.changed and row.changed.evictions]
    assert evicted
    for row in found.workloads:
        runs = [one for one in row.changed.stretches if one.runs] if row.changed else []
        assert ("never" in row.fates) <= (not runs)
        if row.changed is not None and runs:
            assert row.changed.started_ms == runs[0].from_ms


def test_the_victim_of_a_drain_stands_first_with_the_work_that_it_loses() -> None:
    jobs = [job(f"j{n}", queue="main", cpu="4", runtime="2m") for n in range(2)]
    world = world_of(*small_cluster(cpu="8"), node("n0"), node("n1"), *jobs)
    found = verdict_of(world, 30, {"node": {"name": "n0", "change": "drain"}})
    worst = found.workloads[0]
    assert worst.loses
    assert worst.fates[:1] == ["endsLater"]
    assert "losesMore" in worst.fates
    assert worst.lost_ms == found.lost_ms > 0
    assert worst.later_ms == worst.lost_ms + worst.waiting_ms


def test_a_pod_that_runs_and_is_not_ready_has_started_and_does_not_differ() -> None:
    slow = pod("slow", cpu="4", ready_after="1h")
    world = world_of(node("n0"), slow, pod("waits", cpu="4"), stack="kube")
    found = verdict_of(world, 5, {"apply": node("n1")})
    assert rows_of(found).keys() == {"waits"}


def test_a_gang_that_waits_is_one_unit_that_runs_only_with_the_node_added() -> None:
    members = [pod(f"m{n}", cpu="4", runtime="1h") for n in range(2)]
    for one in members:
        one["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    train = {"apiVersion": "scheduling.k8s.io/v1alpha2", **group(), "kind": "PodGroup"}
    policy = {"stack": "kube", "kubeScheduler": ON}
    world = world_of(node("n0"), train, *members, **policy)
    found = verdict_of(world, 5, {"apply": node("n1")})
    [row] = found.workloads
    assert (row.subject, row.fates[0]) == (
        "PodGroup.scheduling.k8s.io/default/train",
        "only",
    )
    assert row.members == ["Pod/default/m0", "Pod/default/m1"]
    assert row.later_ms == -10 * MINUTE_MS


def test_a_gate_that_the_change_takes_away_is_what_lets_the_pod_run() -> None:
    gated = pod("held", cpu="1", runtime="1h")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    world = world_of(node("n0"), gated, stack="kube")
    found = verdict_of(world, 5, {"apply": pod("held", cpu="1", runtime="1h")})
    row = rows_of(found)["held"]
    assert row.fates[0] == "only"
    assert [link.event for link in chain_of(found, row)] == ["starts", "change"]


def test_a_job_that_ends_at_the_tick_of_the_change_does_not_differ() -> None:
    jobs = [job(f"j{n}", queue="main", cpu="4", runtime="10s") for n in range(2)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    more = small_cluster(cpu="8")[1]
    found = verdict_of(world, 10, {"apply": more})
    assert not found.differs


def test_an_application_waits_while_one_of_its_pods_has_no_place() -> None:
    found = verdict_of(gang_world(), 5, {"apply": node("n1")})
    [row] = found.workloads
    assert row.subject == "Application//spark"
    assert row.members == [f"Pod/default/m{n}" for n in range(3)]
    assert (row.fates[0], row.later_ms) == ("only", -10 * MINUTE_MS)
    assert found.by["queue"][0].later_ms == row.later_ms
    assert (found.without.units, found.without.started) == (1, 0)


def test_a_gang_of_yunikorn_starts_when_its_last_needed_pod_has_its_place() -> None:
    world = gang_world(groups=2, arrivals=("10s", "20s", "30s"))
    found = verdict_of(world, 5, {"node": {"name": "n0", "change": "cordon"}})
    [row] = found.workloads
    assert row.without is not None
    assert (row.fates[0], row.without.started_ms) == ("never", 20_000)
    assert [one.event for one in chain_of(found, row)] == ["starts", "starts", "change"]


def test_a_gang_that_keeps_as_many_pods_as_it_needs_runs_on_and_says_what_it_lost() -> (
    None
):
    world = gang_world(node("n1"), groups=1, cpu="3")
    found = verdict_of(world, 30, {"node": {"name": "n1", "change": "drain"}})
    [row] = found.workloads
    assert row.changed is not None
    assert (row.changed.evictions, row.lost_ms) == (0, 30_000)


def gang_world(
    *more: dict[str, Any],
    groups: int = 0,
    cpu: str = "2",
    arrivals: tuple[str, ...] = ("0s", "0s", "0s"),
) -> World:
    """Return pods of one application on a node of 4 CPU; `groups`: so many are a gang."""
    tree = queue_tree({"name": "a", "properties": {"application.sort.policy": "fifo"}})
    labels = {"applicationId": "spark", "queue": "root.a"}
    pods = []
    for number, when in enumerate(arrivals):
        one = pod(f"m{number}", cpu=cpu, labels=labels, runtime="1h", arrival=when)
        if groups:
            group = {"name": "g", "minMember": groups, "minResource": {"cpu": cpu}}
            one["metadata"]["annotations"] |= {
                "yunikorn.apache.org/task-group-name": "g",
                "yunikorn.apache.org/task-groups": json.dumps([group]),
            }
        pods.append(one)
    policy = {"stack": "yunikorn", "yunikorn": {"queues": tree}}
    return world_of(node("n0"), *more, *pods, **policy)
