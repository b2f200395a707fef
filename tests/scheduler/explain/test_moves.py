"""A drop: the patches that move a Workload or a queue, and why it cannot move."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.changes import apply, move, move_workload, without_limit
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    world_of,
)
from tests.scheduler.explain.worlds import lender_and_borrower, run_to, workload

LENDER = Key("ClusterQueue", "", "lender")


def _world() -> World:
    return lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=2, runtime="90s") for n in range(4)),
        job("late", queue="borrower", cpu=3, arrival="3s"),
        until_ms=4_000,
    )


def test_what_holds_quota_is_deactivated_before_it_moves() -> None:
    world = _world()
    change = move(world, workload(world, "b0"), LENDER)
    assert [one.patch for one in change.pause] == [{"spec": {"active": False}}]
    assert change.edits[-1].patch == {"spec": {"queueName": "lender", "active": True}}


def test_a_move_to_where_it_is_already_is_refused() -> None:
    world = _world()
    borrower = Key("ClusterQueue", "", "borrower")
    with pytest.raises(SchedulerError, match="is in LocalQueue borrower already"):
        move(world, workload(world, "late"), borrower)


def test_a_queue_that_the_namespace_may_not_use_refuses() -> None:
    other = cluster_queue("other")
    other["spec"]["namespaceSelector"] = {"matchLabels": {"team": "x"}}
    world = world_of(
        flavor(),
        cluster_queue("main"),
        other,
        local_queue("main", cluster_queue="main"),
        local_queue("other", cluster_queue="other"),
        job("j", queue="main", cpu=9),
    )
    run_to(world, 1_000)
    target = Key("LocalQueue", "default", "other")
    with pytest.raises(SchedulerError, match="does not match the selector"):
        move(world, workload(world, "j"), target)


def test_a_cluster_queue_moves_to_another_cohort() -> None:
    change = move(_world(), LENDER, Key("Cohort", "", "elsewhere"))
    assert change.edits[0].patch == {"spec": {"cohortName": "elsewhere"}}


def test_a_borrowing_limit_can_be_taken_away() -> None:
    world = world_of(flavor(), cluster_queue("main", cohort="all", borrowing=1))
    key = Key("ClusterQueue", "", "main")
    apply(world, without_limit(world, key, {("default", "cpu")}))
    (group,) = world.objects[key].spec["resourceGroups"]
    assert group["flavors"][0]["resources"] == [{"name": "cpu", "nominalQuota": "4"}]


def test_a_patch_of_what_is_not_there_is_refused() -> None:
    world = _world()
    change = move_workload(world, workload(world, "late"), "lender")
    change.edits[-1].name = "ghost"
    with pytest.raises(SchedulerError, match="ghost is not in this world"):
        apply(world, change)
