"""A preempted node is free when its victim has ended, not at once."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Fail, Nominate, Preempt
from scheduler.model.objects import Key, Object
from tests.builders import node, pod, world_of
from tests.scheduler.kube.rig import Rig


def crowded(grace_s: int | None = None, termination: str = "10s") -> World:
    """One node, full of a cheap pod; a dear one comes at 5 s."""
    cheap, dear = pod("cheap", cpu=4, runtime="1h"), pod("dear", cpu=4, arrival="5s")
    cheap["spec"]["priority"], dear["spec"]["priority"] = 0, 100
    if grace_s is not None:
        cheap["spec"]["terminationGracePeriodSeconds"] = grace_s
    simulation = {"latencies": {"termination": termination}}
    return world_of(node("n", cpu=4), cheap, dear, stack="kube", simulation=simulation)


def run(world: World, until_s: int) -> list[tuple[str, str, int]]:
    found = simulate(world, until_ms=until_s * 1000).decisions
    shown = (Preempt, Nominate, Bind)
    return [
        (type(d).__name__, d.subject.name, d.at_ms)
        for d in found
        if isinstance(d, shown) and d.at_ms
    ]


@pytest.mark.parametrize(
    ("grace_s", "ends_s"),
    [(None, 15), (4, 9), (60, 15), (0, 5)],
    ids=["its usual time", "at most its grace", "sooner than that", "at once"],
)
def test_the_preemptor_is_bound_when_the_victim_has_ended(grace_s, ends_s):
    assert run(crowded(grace_s), 30) == [
        ("Preempt", "cheap", 5_000),
        ("Nominate", "dear", 5_000),
        ("Bind", "dear", ends_s * 1000),
    ]


def put(world: World, kind: str, manifest: dict[str, Any]) -> Key:
    namespace = "" if kind == "Node" else "default"
    key = Key(kind, namespace, manifest["metadata"]["name"])
    status = manifest.pop("status", {})
    world.put(Object(key=key, manifest=manifest, status=status))
    return key


def test_it_keeps_its_nomination_and_preempts_nobody_else_meanwhile():
    world = crowded()
    run(world, 6)
    other = pod("other", cpu=4, runtime="1h")
    other["spec"]["nodeName"] = "m"
    put(world, "Pod", other)
    put(world, "Node", node("m", cpu=4))  # wakes the preemptor: this node is full too
    assert run(world, 10) == []
    dear = world.get(Key("Pod", "default", "dear"))
    assert dear.status["nominatedNodeName"] == "n"
    assert "terminating pod on the nominated node" in str(dear.status["conditions"])


def test_a_pod_of_lower_priority_leaves_the_nominated_node_alone():
    world = crowded()
    run(world, 6)
    between = pod("between", cpu=4)
    between["spec"]["priority"] = 50
    key = put(world, "Pod", between)
    assert ("Bind", "dear", 15_000) in run(world, 30)
    assert not world.get(key).spec.get("nodeName")


def test_a_restart_meanwhile_changes_nothing():
    world = crowded()
    run(world, 6)
    again = World.decode(world.encode())
    assert run(again, 30) == run(world, 30) == [("Bind", "dear", 15_000)]


def test_without_latencies_victims_go_at_once():
    assert ("Bind", "dear", 5_000) in run(crowded(termination="0s"), 30)


@pytest.mark.parametrize("stored", [False, True])
def test_a_pod_that_ends_before_it_has_a_node_gets_none(stored):
    rig = Rig()
    waits = pod("waits", cpu=4)
    waits["metadata"]["uid"] = "1"
    key = rig.put(waits)
    rig.run(1000)
    going = {"deletionTimestamp": "2026-01-01T00:00:01Z", "uid": "1"}
    rig.put({**waits, "metadata": {**waits["metadata"], **going}})
    if stored:
        rig = rig.restarted()
    rig.put(node("n", cpu=8))
    said = [one.message for one in rig.run(20_000) if isinstance(one, Fail)]
    assert said == ["skip schedule deleting pod: default/waits"]
    assert rig.places() == {}
    rig.remove(key)
    assert rig.run(30_000) == []
