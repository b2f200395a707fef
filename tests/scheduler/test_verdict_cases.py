"""Named cases of a what-if: who waits, who pays, and what leads back to the change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from scheduler.analysis.measures.bill import FATES, chain_of
from scheduler.analysis.measures.lives import LifeReader
from scheduler.analysis.measures.units import Life
from scheduler.analysis.measures.verdict import (
    EQUAL,
    GAINS,
    LOSSES,
    NEUTRAL,
    ChangeVerdict,
    WorkloadVerdict,
)
from scheduler.analysis.pairs import Side, compare_pair
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from scheduler.input.manifests.load import load
from scheduler.model.decisions import Bind
from scheduler.model.objects import Key
from scheduler.model.patches import merge
from scheduler.model.policy import read_policy
from tests.builders import job, node, pod, queue_tree, small_cluster, world_of
from tests.scheduler.lifetime.test_changes import change
from tests.scheduler.lifetime.test_webhooks import hook, service, work


def verdict_of(
    world: World, alter: Callable[[World], None], *, ticks: int = 0, until_s: int = 60
) -> ChangeVerdict:
    """Return what a change makes different so many ticks on."""
    for _ in range(ticks):
        run_tick(world)
    world.take()
    return compare_pair(world, alter, horizon_ms=until_s * 1000).seeds[0].verdict


def put(*manifests: dict[str, Any]) -> Callable[[World], None]:
    def alter(world: World) -> None:
        for obj in load((), objects=[("change", one) for one in manifests]).objects:
            world.put(obj)

    return alter


def tree(most: int) -> dict[str, Any]:
    leaf = {"name": "a", "resources": {"max": {"vcore": str(most)}}}
    return queue_tree(leaf, placementrules=[{"name": "provided", "create": False}])


def raised(most: int) -> Callable[[World], None]:
    def alter(world: World) -> None:
        patch = {"spec": {"yunikorn": {"queues": tree(most)}}}
        world.set_policy(read_policy(merge(world.policy.document(), patch)))

    return alter


def application(name: str, **more: Any) -> dict[str, Any]:
    labels = {"applicationId": name, "queue": "root.a"}
    return pod(name, cpu="2", labels=labels, **more)


def row(found: ChangeVerdict, name: str) -> WorkloadVerdict:
    [one] = [each for each in found.workloads if each.subject.endswith(f"/{name}")]
    return one


def test_pods_that_wait_for_a_full_node_run_only_with_the_node_that_is_added():
    waiting = [pod(f"p{n}", cpu="4", runtime="1h", arrival=f"{n}s") for n in range(3)]
    world = world_of(node("n0", cpu="4"), *waiting, stack="kube")
    found = verdict_of(world, put(node("n1", cpu="8")), ticks=20)
    assert [one.subject for one in found.workloads] == [
        "Pod/default/p1",
        "Pod/default/p2",
    ]
    assert {one.fates[0] for one in found.workloads} == {"only"}
    assert all(one.without.started_ms is None for one in found.workloads if one.without)
    assert found.later_ms == -2 * 60_000


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ([hook(), service(), node("n0")], hook(failurePolicy="Ignore")),
        ([node("n0", cpu="100m")], node("n0", cpu="9")),
    ],
)
def test_a_change_outside_of_a_spec_is_named_at_the_end_of_a_chain(given, changed):
    held = world_of(*small_cluster(), *given, work("kueue", runtime="5s"))
    found = verdict_of(held, put(changed), ticks=10)
    [end] = [one for one in found.links if one.event == "change"]
    assert end.subject == str(Key(changed["kind"], "", changed["metadata"]["name"]))


def test_a_raised_max_of_yunikorn_lets_those_run_that_waited_for_it():
    apps = [application(f"a{n}", runtime="1h") for n in range(2)]
    policy = {"stack": "yunikorn", "yunikorn": {"queues": tree(2)}}
    world = world_of(node("n0", cpu="8"), *apps, **policy)
    found = verdict_of(world, raised(4), ticks=10)
    [one] = found.workloads
    assert one.fates[0] == "only"
    assert one.later_ms < 0


def test_a_lowered_max_of_yunikorn_is_what_keeps_its_pods_out():
    apps = [application(f"a{n}", runtime="1h", arrival="5s") for n in range(2)]
    policy = {"stack": "yunikorn", "yunikorn": {"queues": tree(4)}}
    world = world_of(node("n0", cpu="8"), *apps, **policy)
    found = verdict_of(world, raised(2))
    [one] = found.workloads
    assert one.fates[0] == "never"
    start, change = chain_of(found, one)
    assert (start.event, change.event) == ("starts", "change")
    assert start.how is not None
    assert start.how.code == "chain.by.changed"


def test_a_pod_behind_a_gate_waits_on_both_sides_and_does_not_differ():
    gated = pod("held", cpu="1")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    world = world_of(node("n0", cpu="4"), gated, stack="kube")
    found = verdict_of(world, put(node("n1", cpu="4")), ticks=5)
    assert not found.differs


def test_a_unit_that_ends_at_the_tick_of_the_change_does_not_differ():
    ends = pod("ends", cpu="4", runtime="10s")
    world = world_of(node("n0", cpu="4"), ends, stack="kube")
    found = verdict_of(world, put(node("n1", cpu="4")), ticks=10)
    assert [one for one in found.workloads if one.subject.endswith("/ends")] == []


def test_a_job_that_the_change_adds_is_neither_earlier_nor_later():
    jobs = [job("there", queue="main", cpu="4", runtime="30s")]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    found = verdict_of(world, put(job("new", queue="main", cpu="4")), ticks=5)
    [one] = [each for each in found.workloads if "job-new" in each.subject]
    assert (one.fates, one.later_ms, one.start) == (["onlyWith"], 0, "same")
    assert found.by["queue"][0].added == 1


def test_a_difference_of_a_tick_counts_as_equal_and_is_listed_apart():
    jobs = [job("first", queue="main", cpu="4", runtime="20s")]
    second = job("second", queue="main", cpu="4", runtime="5s", arrival="1s")
    world = world_of(*small_cluster(cpu="4"), *jobs, second)
    shorter = merge(
        jobs[0], {"metadata": {"annotations": {"quotalab.dev/runtime": "19500ms"}}}
    )
    found = verdict_of(world, put(shorter), ticks=0)
    assert not found.differs
    assert {one.fates[0] for one in found.workloads} == {"equal"}
    assert found.later_ms == 0


def test_each_fate_has_its_words():
    assert set(FATES) == {*LOSSES, *NEUTRAL, *GAINS, EQUAL}


def test_a_change_of_yunikorns_config_map_applies_at_its_instant():
    world = world_of(*raised_at("12s"), **YUNIKORN)
    starts = {
        one.subject.name: one.at_ms
        for one in simulate(world, until_ms=30_000).decisions
        if isinstance(one, Bind)
    }
    assert starts == {"a0": 0, "a1": 12_000}
    again = World.decode(world.encode())
    assert again.policy.document() == world.policy.document()
    assert again.hash() == world.hash()


YUNIKORN = {"stack": "yunikorn", "yunikorn": {"queues": tree(2)}}


def raised_at(when: str) -> list[dict[str, Any]]:
    """Return two applications, room for one, and a Change that lets the other run."""
    names = {"name": "yunikorn-configs", "namespace": "yunikorn"}
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": names,
        "data": {"queues.yaml": yaml.safe_dump(tree(2))},
    }
    change = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": "c", "annotations": {"quotalab.dev/arrival": when}},
        "spec": {
            "target": {"kind": "ConfigMap", **names},
            "patch": {"data": {"queues.yaml": yaml.safe_dump(tree(4))}},
        },
    }
    apps = [application(f"a{n}", runtime="1h") for n in range(2)]
    return [node("n0", cpu="8"), *apps, config, change]


def test_lives_are_those_of_a_reader_that_looks_at_all_units_for_what_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = [
        job(f"j{n}", queue="main", cpu=2, arrival=f"{n}s", runtime="20s")
        for n in range(8)
    ]
    deleted = [
        change(f"{at}s", {"kind": "Job", "name": f"j{n}"}, delete=True)
        for n, at in enumerate([9, 4, 30, 8, 12, 7])
    ]
    for n, one in enumerate(deleted):
        one["metadata"]["name"] = f"gone-{n}"

    def lives() -> dict[Key, Life]:
        world = world_of(*small_cluster(cpu=6), node("n", cpu=6), *jobs, *deleted)
        return dict(Side(world, 90_000).at(90_000, lambda: None).lives.units)

    found = lives()
    assert "deleted" in {life.ended for life in found.values()}
    monkeypatch.setattr(LifeReader, "_removed", lambda self, _: list(self._units))
    assert found == lives()
