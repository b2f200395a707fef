"""Nodes and racks that fail by themselves, and what it costs the work on them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.measures import Measures
from scheduler.engine.lifetime.changes import UNREACHABLE
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Checkpoint, Evict, Finish, NodeChange
from scheduler.model.errors import PolicyError
from tests.builders import job, node, small_cluster, world_of

RACK = "topology.kubernetes.io/rack"
ONE = {"meanTimeBetween": "40s", "repair": "5s"}


def racks(failures: dict | None, *, seed: int = 1, **of_job: str) -> World:
    """Two racks of two nodes of 4 CPUs; a job has four pods of 4 CPUs for 2 min."""
    nodes = [node(f"n{i}", **{RACK: f"r{i // 2}"}) for i in range(4)]
    work = job("work", queue="main", cpu=4, parallelism=4, runtime="2m", **of_job)
    simulation = {} if failures is None else {"failures": failures}
    queues = small_cluster(cpu=16)
    return world_of(*queues, *nodes, work, seed=seed, simulation=simulation)


def run(world: World, until_ms: int = 1_800_000):
    measures, decisions = Measures(world), []

    def hear(made):
        decisions.extend(made)
        measures.observe(made)

    simulate(world, until_ms=until_ms, hear=hear)
    return measures.summary(), decisions


def changes(decisions: list, change: str) -> list:
    return [d for d in decisions if isinstance(d, NodeChange) and d.change == change]


def down(world: World) -> list[str]:
    taints = {k.name: world.objects[k].spec.get("taints") for k in world.keys("Node")}
    return sorted(n for n, found in taints.items() if UNREACHABLE in (found or ()))


def test_a_node_fails_and_is_back_after_its_repair():
    _, decisions = run(racks(ONE), 300_000)
    failed = changes(decisions, "failed")
    back = {(d.subject, d.at_ms) for d in changes(decisions, "recovered")}
    assert failed
    assert all(
        (d.subject, d.at_ms + 5_000) in back for d in failed if d.at_ms < 295_000
    )


def test_the_nodes_of_a_rack_fail_at_once():
    failures = {
        "domain": RACK,
        "domainMeanTimeBetween": "60s",
        "domainRepair": "20s",
    }
    world = racks(failures)
    at = changes(run(racks(failures), 300_000)[1], "failed")[0].at_ms
    simulate(world, until_ms=at)
    assert down(world) in (["n0", "n1"], ["n2", "n3"])


def test_work_that_a_failed_node_took_is_lost_though_its_quota_stays():
    found, decisions = run(racks({**ONE, "meanTimeBetween": "150s"}, seed=3))
    lost = [d for d in decisions if isinstance(d, Checkpoint)]
    assert lost
    assert {d.reason for d in lost} == {"PodLost"}
    assert found.evictions == 0
    assert found.work_lost_ms == sum(d.lost_ms for d in lost)
    assert found.restarts == 0  # the other pods go on
    held = found.used_hours["main"]["cpu"]
    assert found.goodput["cpu"] == pytest.approx(1 - found.work_lost["cpu"] / held)


def test_checkpoints_let_work_end_that_failures_would_not():
    without, _ = run(racks(ONE))
    with_them, decisions = run(racks(ONE, checkpoint_every="5s", restart_takes="1s"))
    assert (without.finished, with_them.finished) == (0, 1)
    assert any(isinstance(d, Finish) for d in decisions)
    assert with_them.goodput["cpu"] > without.goodput["cpu"]


def test_no_node_fails_that_lacks_the_labels():
    failures = {**ONE, "nodes": {RACK: "r1"}}
    failed = changes(run(racks(failures), 300_000)[1], "failed")
    assert {d.subject.name for d in failed} <= {"n2", "n3"}
    assert failed


def test_what_runs_on_the_nodes_shifts_no_failure():
    times = [
        [(d.at_ms, d.subject) for d in changes(run(world, 300_000)[1], "failed")]
        for world in (racks(ONE), racks(ONE, checkpoint_every="5s"))
    ]
    assert times[0] == times[1]


def test_a_node_that_a_person_recovered_is_not_recovered_again():
    world = racks({**ONE, "meanTimeBetween": "200s"})
    first = changes(run(racks({**ONE, "meanTimeBetween": "200s"}))[1], "failed")[0]
    simulate(world, until_ms=first.at_ms)
    world.put(_without_taints(world, first.subject))
    _, decisions = run(world, first.at_ms + 6_000)
    assert first.subject not in [d.subject for d in changes(decisions, "recovered")]


def _without_taints(world, key):
    from scheduler.model.objects import Object

    known = world.objects[key]
    manifest = {**known.manifest, "metadata": dict(known.metadata), "spec": {}}
    return Object(key=key, manifest=manifest)


def test_without_failures_no_node_waits_for_anything():
    world = racks(None)
    simulate(world, until_ms=400_000)
    assert world.lifetime.due() is None
    assert not [d for d in world.take().decisions if isinstance(d, Evict)]


@settings(max_examples=15, deadline=None)
@given(at=st.integers(1, 200), seed=st.integers(1, 5))
def test_a_copy_in_the_middle_ends_as_the_world_itself(at, seed):
    failures = {**ONE, "domain": RACK, "domainMeanTimeBetween": "90s"}
    world = racks(failures, seed=seed, checkpoint_every="7s")
    simulate(world, until_ms=at * 1000)
    again = world.copy()
    for one in (world, again):
        simulate(one, until_ms=250_000)
    assert again.hash() == world.hash()


@pytest.mark.parametrize(
    ("failures", "problem"),
    [
        ({"meanTimeBetween": "exp(5s)"}, "failures.meanTimeBetween: expected a mean"),
        ({"meanTimeBetween": "0s"}, "expected a mean above 0s"),
        ({"repair": "soon"}, "failures.repair"),
        ({"domainMeanTimeBetween": "1h"}, "failures.domain: expected the label"),
        ({"mtbf": "1h"}, "mtbf"),
    ],
)
def test_failures_that_make_no_sense_are_refused(failures, problem):
    with pytest.raises(PolicyError, match="failures") as refused:
        racks(failures)
    assert problem in str(refused.value)


def test_what_a_lost_pod_cost_is_not_counted_again_by_an_eviction():
    target = {"kind": "Node", "name": "n0"}
    stop = {"kind": "ClusterQueue", "name": "main"}
    world = world_of(
        *small_cluster(),
        node("n0"),
        node("n1"),
        job("work", queue="main", cpu=1, runtime="2m", checkpoint_every="20s"),
        at("30s", "fail", target, node="fail"),
        at("60s", "stop", stop, patch={"spec": {"stopPolicy": "HoldAndDrain"}}),
    )
    found, decisions = run(world, 90_000)
    assert [d.kept_ms for d in decisions if isinstance(d, Checkpoint)] == [
        20_000,
        20_000,
    ]
    assert found.work_lost_ms == 20_000
    (work,) = world.keys("Workload")
    assert world.lifetime.runs[work].lost_ms == 20_000


def at(when: str, name: str, target: dict, **spec) -> dict:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": name, "annotations": {"quotalab.dev/arrival": when}},
        "spec": {"target": target, **spec},
    }
