"""Workloads of a running cluster that wait for their victims: the latest stays first."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.model import durations
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import EPOCH, Rig


def condition(kind: str, status: str, reason: str, message: str, at_s: int) -> Any:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": durations.stamp_text(EPOCH + at_s * 1_000_000),
    }


def waiting(rig: Rig, name: str, queue: str = "q") -> None:
    """Put a workload of 4 cpu that says it waits for whom it preempts."""
    reason = "WaitingForPreemptedWorkloads"
    said = condition("QuotaReserved", "False", reason, "", 0)
    rig.workload(name, queue, 4, status={"conditions": [said]})


def victim(rig: Rig, name: str, of: str, at_s: int, reason: str = "Preempted") -> None:
    """Put a workload with quota that was evicted for another one."""
    uid = rig.objects[Key("Workload", "default", of)].uid
    message = (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: UNKNOWN) due to"
    )
    reserved = condition("QuotaReserved", "True", "QuotaReserved", "", 0)
    evicted = condition("Evicted", "True", reason, message, at_s)
    part = {
        "name": "main",
        "flavors": {"cpu": "f"},
        "resourceUsage": {"cpu": 1},
        "count": 1,
    }
    admission = {"clusterQueue": "q", "podSetAssignments": [part]}
    status = {"conditions": [reserved, evicted], "admission": admission}
    rig.workload(name, "q", 1, status=status)


def preemptor(rig: Rig, queue: str = "q") -> str | None:
    rig.stage.settle()
    found = rig.stage.cluster.forest.queues[queue].pending.preemptor
    return None if found is None else found.key.name


@pytest.mark.parametrize(
    ("victims", "first"),
    [
        ({"a": [5], "b": [3]}, "a"),
        ({"a": [3], "b": [5]}, "b"),
        ({"a": [1, 7], "b": [3, 5]}, "a"),
        ({"a": [7, 1], "b": [3, 5]}, "a"),
        ({"a": [3]}, "a"),
        ({"b": [3]}, "b"),
    ],
)
def test_of_two_that_wait_the_one_with_the_latest_victim_stays_at_the_head(
    victims, first
):
    rig = Rig()
    rig.queue("q", 4, within="LowerPriority")
    for name in ("a", "b"):
        waiting(rig, name)
    for name, instants in victims.items():
        for index, at_s in enumerate(instants):
            victim(rig, f"of-{name}-{index}", name, at_s)
    assert preemptor(rig) == first


def test_an_eviction_for_another_reason_is_no_preemption():
    rig = Rig()
    rig.queue("q", 4)
    waiting(rig, "a")
    waiting(rig, "b")
    victim(rig, "one", "a", 3)
    victim(rig, "other", "b", 5, reason="PodsReadyTimeout")
    assert preemptor(rig) == "a"


def test_each_queue_keeps_its_own_and_a_strict_one_none():
    rig = Rig()
    rig.queue("q", 4)
    rig.queue("p", 4)
    rig.queue("strict", 4, strategy="StrictFIFO")
    for queue in ("q", "p", "strict"):
        waiting(rig, f"w-{queue}", queue)
    found = [preemptor(rig, queue) for queue in ("q", "p", "strict")]
    assert found == ["w-q", "w-p", None]


def test_one_whose_backoff_runs_is_not_at_the_head():
    rig = Rig()
    rig.queue("q", 4)
    reason = "WaitingForPreemptedWorkloads"
    said = condition("QuotaReserved", "False", reason, "", 0)
    later = {"count": 1, "requeueAt": durations.stamp_text(EPOCH + 60_000_000)}
    rig.workload("w", "q", 4, status={"conditions": [said], "requeueState": later})
    assert preemptor(rig) is None
