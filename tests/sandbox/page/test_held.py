"""Pods that are assumed on a node and not bound: on their rows and on the nodes'."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.models import Sandbox
from sandbox.page import rows
from sandbox.page.diffs import Page, apply
from sandbox.page.rows.tally import WorkloadTally
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from tests.builders import Manifest, node, pod, world_of
from tests.scheduler.kube.rig import GANG_PLUGINS, pod_group, profile

SANDBOX = Sandbox(id="s", title="a sandbox", tick=0)
NODE = "Node//n0"


def shown(found: World, ticks: int) -> Page:
    """Make ticks; return the page, brought forward by each delta."""
    SANDBOX.tick = 0
    page = rows.page_of(found, SANDBOX)
    for _ in range(ticks):
        run_tick(found)
        SANDBOX.tick = found.tick
        delta = rows.delta_of(
            found, SANDBOX, page, WorkloadTally.of(page), found.take()
        )
        apply(page, delta)
    assert page == rows.page_of(found, SANDBOX)
    return page


def member(name: str, cpu: int) -> Manifest:
    found = pod(name, cpu=cpu, labels={"scheduling.x-k8s.io/pod-group": "g"})
    found["spec"]["schedulerName"] = "batch"
    return found


def gang(*, several: bool, **simulation: Any) -> World:
    """A gang of which one member fits on the node of 4 CPU, and one fits nowhere."""
    args = {"permitWaitingTimeSeconds": 3, "podGroupRejectPercentage": 60}
    batch = profile(
        "batch",
        plugins=GANG_PLUGINS,
        pluginConfig=[{"name": "Coscheduling", "args": args}],
    )
    configurations = [{"profiles": [batch]}, {"profiles": [profile("web")]}]
    return world_of(
        node("n0", cpu=4),
        {"apiVersion": "scheduling.x-k8s.io/v1alpha1", **pod_group("g", 2)},
        member("a", 3),
        member("b", 9),
        stack="kube",
        kubeScheduler={"kind": "List", "items": configurations[: 1 + several]},
        simulation=simulation,
    )


@pytest.mark.parametrize("several", [False, True])
def test_a_pod_that_waits_at_permit_is_on_its_node_until_the_wait_times_out(
    several: bool,
) -> None:
    found = gang(several=several)
    page = shown(found, 1)
    waiting = page["Pod/default/a"]
    assert waiting["phase"] == "waiting"
    assert waiting["heldOn"] == "n0"
    assert (waiting["permitBy"], waiting["permitUntilMs"]) == ("Coscheduling", 3_000)
    assert page[NODE]["used"]["cpu"] == page[NODE]["held"]["cpu"] == "3000"
    assert (page[NODE]["pods"], page[NODE]["heldPods"]) == (1, 1)

    page = shown(found, 4)
    assert page["Pod/default/a"]["heldOn"] == ""
    assert page[NODE]["used"] == page[NODE]["held"] == {}


def test_a_node_says_which_scheduler_keeps_it_to_itself() -> None:
    page = shown(gang(several=True, locking="pessimistic"), 1)
    assert page[NODE]["lockedBy"] == "batch"


def test_two_schedulers_that_assume_pods_on_one_node_are_both_counted() -> None:
    pods = [pod("a", cpu=3), pod("b", cpu=3)]
    for scheduler, each in zip("ab", pods, strict=True):
        each["spec"]["schedulerName"] = scheduler
    page = shown(
        world_of(
            node("n0", cpu=4),
            *pods,
            stack="kube",
            kubeScheduler={
                "kind": "List",
                "items": [{"profiles": [profile(name)]} for name in "ab"],
            },
            simulation={"bindLatencyMs": 60_000},
        ),
        1,
    )
    assert page[NODE]["held"]["cpu"] == "6000"
    assert {page[f"Pod/default/{name}"]["heldOn"] for name in "ab"} == {"n0"}
