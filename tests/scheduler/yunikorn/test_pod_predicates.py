"""Pods that mind other pods: ports, spread, affinity, as YuniKorn's shim asks."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.recorder import scheduled_condition
from scheduler.model.objects import Key, Object
from tests.invariants import check
from tests.scheduler.yunikorn.clusters import node, pod, run, subjects, world

TERM = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "host"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
APART = {"podAntiAffinity": {REQUIRED: [TERM]}}
NEAR = {"podAffinity": {REQUIRED: [TERM]}}
WEB = {"app": "web"}


def labelled(laws: str = "released", **cores: str) -> World:
    made = world(nodes={}, laws=laws)
    for name, cpu in cores.items():
        obj = node(name, cpu)
        obj.manifest["metadata"]["labels"] = {"host": name}
        made.put(obj)
    return made


def with_port(name: str, queue: str, cpu: str = "1", **more: Any) -> Object:
    obj = pod(name, queue, cpu, **more)
    ports = [{"containerPort": 80, "hostPort": 80}]
    obj.manifest["spec"]["containers"][0]["ports"] = ports
    return obj


def where(made: World, *names: str) -> list[str | None]:
    found = [made.get(Key("Pod", "default", name)) for name in names]
    return [obj.spec.get("nodeName") for obj in found]


def test_pods_that_want_to_be_apart_are():
    made = labelled(a="4", b="4")
    for number in range(3):
        made.put(pod(f"w{number}", "root.prod", labels=WEB, affinity=APART))
    run(made, 2)
    assert sorted(filter(None, where(made, "w0", "w1", "w2"))) == ["a", "b"]
    check(made)


def test_who_stands_there_already_may_keep_others_away():
    made = labelled(a="4")
    made.put(pod("alone", "root.prod", affinity=APART, runtime="5s"))
    run(made, 1)
    made.put(pod("web", "root.test", labels=WEB))
    run(made, 2)
    assert where(made, "web") == [None]
    said = scheduled_condition(made.get(Key("Pod", "default", "web")))
    assert said is not None
    assert "existing pods anti-affinity" in said["message"]
    run(made, 5)
    assert where(made, "web") == ["a"]


def test_pods_that_want_to_be_near_follow():
    made = labelled(a="4", b="4")
    made.put(pod("first", "root.prod", labels=WEB, nodeSelector={"host": "b"}))
    run(made, 1)
    made.put(pod("second", "root.prod", affinity=NEAR))
    run(made, 1)
    assert where(made, "second") == ["b"]


def test_a_host_port_is_free_again_when_its_pod_is_gone():
    made = labelled(a="4")
    made.put(with_port("one", "root.prod", runtime="5s"))
    made.put(with_port("two", "root.prod"))
    run(made, 2)
    assert where(made, "one", "two") == ["a", None]
    run(made, 6)
    assert where(made, "two") == ["a"]


def test_pods_of_other_schedulers_count():
    made = labelled(a="4")
    other = {"schedulerName": "volcano", "nodeName": "a"}
    made.put(pod("stranger", "root.prod", labels=WEB, **other))
    made.put(pod("apart", "root.prod", affinity=APART))
    run(made, 2)
    assert where(made, "apart") == [None]


def test_hard_spread_is_kept():
    made = labelled(a="8", b="2")
    spread = {**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    for number in range(4):
        made.put(
            pod(
                f"w{number}",
                "root.prod",
                labels=WEB,
                topologySpreadConstraints=[spread],
            )
        )
    run(made, 2)
    assert sorted(where(made, "w0", "w1", "w2", "w3")) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("laws", ["released", "documented"])
def test_a_victim_frees_its_port_too(laws: str):
    made = labelled(laws, a="4")
    made.put(with_port("holder", "root.test", "2"))
    made.put(pod("filler", "root.test", "2"))
    run(made, 1)
    made.put(with_port("wanted", "root.prod", "2"))
    decisions = run(made, 20)
    victims = subjects(decisions, "Preempt")
    assert ("holder" in victims) == (where(made, "wanted") == ["a"])
    check(made)


def test_a_relabelled_pod_is_seen_as_it_is():
    made = labelled(a="4")
    made.put(pod("first", "root.prod", labels=WEB))
    made.put(pod("apart", "root.prod", affinity=APART))
    run(made, 2)
    assert where(made, "apart") == [None]
    known = made.get(Key("Pod", "default", "first"))
    labels = {**known.labels, "app": "db"}
    manifest = {**known.manifest, "metadata": {**known.metadata, "labels": labels}}
    made.put(Object(key=known.key, manifest=manifest))
    run(made, 2)
    assert where(made, "apart") == ["a"]
