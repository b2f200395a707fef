"""Pods leave a node that is tainted NoExecute, at once or in a while."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.lifetime.continuing import tolerated_s
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Evict
from scheduler.model.selectors import read_taints, read_tolerations
from tests.builders import node, pod, world_of

TAINT = {"key": "gone", "effect": "NoExecute"}
MINE = {"key": "gone", "operator": "Exists"}


def tainting(at: str) -> dict[str, Any]:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": "c", "annotations": {"quotalab.dev/arrival": at}},
        "spec": {
            "target": {"kind": "Node", "name": "n1"},
            "patch": {"spec": {"taints": [TAINT]}},
        },
    }


def tolerating(name: str, *tolerations: dict[str, Any]) -> dict[str, Any]:
    made = pod(name, runtime="1h")
    made["spec"]["tolerations"] = list(tolerations)
    return made


def driven_off(world: World, until_s: int) -> list[tuple[str, int]]:
    found = simulate(world, until_ms=until_s * 1000).decisions
    return [
        (d.subject.name, d.at_ms)
        for d in found
        if isinstance(d, Evict) and d.reason == "DeletionByTaintManager"
    ]


@pytest.fixture
def world() -> World:
    return world_of(
        node("n1", cpu=8),
        tolerating("plain"),
        tolerating("forever", MINE),
        tolerating("patient", {**MINE, "tolerationSeconds": 20}),
        tainting("10s"),
        stack="kube",
    )


def test_pods_leave_when_their_patience_is_over(world):
    assert driven_off(world, 60) == [("plain", 10_000), ("patient", 30_000)]


def test_a_restored_world_drives_off_at_the_same_instant(world):
    simulate(world, until_ms=15_000)
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    assert driven_off(again, 60) == [("patient", 30_000)]


def test_a_pod_that_was_driven_off_is_not_placed_there_again(world):
    found = simulate(world, until_ms=60_000).decisions
    assert [d.subject.name for d in found if isinstance(d, Bind)].count("plain") == 1


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0),
        ([MINE], None),
        ([{**MINE, "tolerationSeconds": -5}], 0),
        ([{**MINE, "tolerationSeconds": 7}, MINE], 7),  # the first that matches
        ([{"operator": "Exists", "effect": "NoSchedule"}], 0),
    ],
)
def test_the_first_toleration_of_a_taint_says_how_long(tolerations, seconds):
    taints = read_taints([TAINT, {"key": "x", "effect": "NoSchedule"}])
    assert tolerated_s(taints, read_tolerations(tolerations)) == seconds
