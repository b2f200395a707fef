"""Before a drop: the preview is what the drop does."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.changes import (
    add_quota,
    apply,
    move_workload,
    without_limit,
)
from scheduler.analysis.explain.moves import HORIZON_MS, what_if, what_if_move
from scheduler.analysis.explain.shapes import Change, Edit, Preview
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
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


def _starting(preview: Preview) -> list[str]:
    """Return who starts with the change alone."""
    assert preview.verdict is not None
    return [one.subject for one in preview.verdict.workloads if one.start == "only"]


def test_a_move_reports_victims_shares_and_work_lost() -> None:
    world = _world()
    preview = what_if_move(world, workload(world, "late"), LENDER)
    outcome = preview.outcome
    assert outcome is not None
    assert (outcome.outcome, outcome.tick) == ("admitted", 5)
    assert {v.reason for v in outcome.victims} == {"InCohortReclamation"}
    assert outcome.work_lost_ms == 8_000
    shares = {row.name: (row.before, row.after) for row in outcome.shares}
    assert shares["borrower"] == (500.0, 0.0)
    (row,) = [cell for cell in preview.cells if cell.chosen]
    assert (row.chain[0].used, row.chain[0].borrowed) == ("3000", "0")


def test_each_sentence_of_a_move_has_its_code() -> None:
    world = _world()
    preview = what_if_move(world, workload(world, "late"), LENDER)
    assert [one.text for one in preview.said] == preview.sentences
    codes = ["admitted", "uses", "never", "preempts", "shares", "lost"]
    assert [one.code for one in preview.said] == [f"whatIf.{one}" for one in codes]
    assert preview.usage == [
        "lender uses 3 CPU of 4 CPU in flavor default and borrows none."
    ]


def test_a_job_moves_as_its_workload_does() -> None:
    world = _world()
    preview = what_if_move(world, Key("Job", "default", "late"), LENDER)
    assert preview.workload == str(workload(world, "late"))


def test_what_holds_quota_is_evicted_by_its_move() -> None:
    world = _world()
    preview = what_if_move(world, workload(world, "b0"), LENDER)
    assert preview.evicted
    assert preview.change is not None
    assert preview.change.pause
    assert preview.outcome is not None
    assert preview.outcome.outcome == "admitted"


def test_a_move_to_where_it_is_already_is_refused() -> None:
    world = _world()
    borrower = Key("ClusterQueue", "", "borrower")
    preview = what_if_move(world, workload(world, "late"), borrower)
    assert "is in LocalQueue borrower already" in preview.refused
    assert preview.change is None


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
    preview = what_if_move(world, workload(world, "j"), target)
    assert "does not match the selector" in preview.refused


def test_a_cluster_queue_moves_to_another_cohort() -> None:
    world = _world()
    preview = what_if_move(world, LENDER, Key("Cohort", "", "elsewhere"))
    assert preview.change is not None
    assert preview.change.edits[0].patch == {"spec": {"cohortName": "elsewhere"}}
    assert preview.outcome is not None
    shares = {row.name: row.after for row in preview.outcome.shares}
    assert shares["borrower"] == 1000.0


def test_an_edit_of_quota_reports_who_else_is_admitted() -> None:
    world = _world()
    change = add_quota(world, LENDER, {("default", "cpu"): 3000})
    preview = what_if(world, change)
    assert _starting(preview) == [str(workload(world, "late"))]


def test_who_is_evicted_and_admitted_again_on_the_way_is_named_once() -> None:
    queue = cluster_queue("q", cpu=1, within="LowerPriority")
    world = world_of(
        flavor(),
        workload_priority("high", 100),
        queue,
        local_queue("q", cluster_queue="q"),
        job("long", queue="q", priority_class="high", runtime="300s"),
        job("low", queue="q", arrival="2s", runtime="20s"),
        job("short", queue="q", priority_class="high", arrival="10s", runtime="5s"),
    )
    run_to(world, 4_000)

    preview = what_if(
        world,
        add_quota(world, Key("ClusterQueue", "", "q"), {("default", "cpu"): 1000}),
    )

    assert preview.outcome is not None
    assert [one.workload for one in preview.outcome.victims] == [
        str(workload(world, "low"))
    ]
    assert preview.verdict is not None
    (low,) = [one for one in preview.verdict.workloads if "low" in one.subject]
    assert (low.start, low.changed.evictions) == ("only", 1)
    assert len(_starting(preview)) == len(set(_starting(preview))) == 2


def test_a_patch_of_the_policy_is_run_as_a_move_is() -> None:
    world = _world()
    fair = {"spec": {"kueue": {"fairSharing": {"preemptionStrategies": []}}}}
    patch = Edit(kind="Policy", namespace="", name="", patch=fair)
    preview = what_if(world, Change(edits=[patch]))
    assert preview.outcome is not None
    assert preview.outcome.ran_from_ms == world.context.now_ms
    assert preview.outcome.ran_to_ms == world.context.now_ms + HORIZON_MS
    assert world.policy.spec.kueue.get("fairSharing") is None


def test_a_policy_without_kueue_is_previewed_by_its_pods() -> None:
    world = world_of(stack="kube")
    patch = {"spec": {"simulation": {"podStartMs": 1000}}}
    edit = Edit(kind="Policy", namespace="", name="", patch=patch)
    assert what_if(world, Change(edits=[edit])).effects == [
        "Nothing changes within 30 s: both runs come to the same."
    ]


def test_a_preview_leaves_the_world_as_it_is() -> None:
    world = _world()
    before = world.hash()
    what_if_move(world, workload(world, "b0"), LENDER)
    what_if(world, add_quota(world, LENDER, {("default", "cpu"): 1000}))
    assert world.hash() == before


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


def test_an_edit_that_changes_nothing_says_so_though_time_goes_on() -> None:
    world = lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=2, runtime="5s") for n in range(9)),
        until_ms=2_000,
    )
    patch = {"spec": {"simulation": {"podStartMs": 0}}}
    preview = what_if(
        world, Change(edits=[Edit(kind="Policy", namespace="", name="", patch=patch)])
    )
    assert preview.verdict is not None
    assert preview.verdict.without.started == preview.verdict.changed.started > 0
    assert [one.code for one in preview.said] == ["whatIf.same"]
    assert preview.outcome is not None
    assert preview.outcome.shares == []


def test_who_loses_by_an_edit_is_named_beside_who_gains() -> None:
    world = world_of(
        flavor(),
        cluster_queue("q", cpu=1),
        local_queue("q", cluster_queue="q"),
        *(job(name, queue="q", runtime="8s") for name in ("a", "b", "c")),
    )
    run_to(world, 4_000)
    last = workload(world, "b")
    urgent = Edit(
        kind="Workload",
        namespace=last.namespace,
        name=last.name,
        patch={"spec": {"priority": 100}},
    )
    preview = what_if(world, Change(edits=[urgent]))
    assert preview.verdict is not None
    outcomes = {one.subject: one for one in preview.verdict.workloads}
    assert list(outcomes) == [str(workload(world, "a")), str(last)]
    assert [one.start for one in outcomes.values()] == ["later", "earlier"]
    assert [one.code for one in preview.said] == ["whatIf.earlier", "whatIf.later"]
