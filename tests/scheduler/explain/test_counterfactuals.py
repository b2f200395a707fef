"""Counterfactuals hold: what is said to let a workload in does so when done."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain import to_document
from scheduler.analysis.explain.changes import apply
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.shapes import Counterfactuals, Verdict
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Preempt
from scheduler.model.objects import Key
from tests.builders import job, node
from tests.scheduler.explain.worlds import (
    FAIR,
    contended,
    lender_and_borrower,
    run_to,
    waiting,
    workload,
)

START_MS, HORIZON_MS = 7_000, 90_000


def _of(answer: Counterfactuals, kind: str) -> Verdict:
    return next(verdict for verdict in answer.verdicts if verdict.kind == kind)


def _stuck(**policy) -> World:
    """Return a world in which `late` is 1 CPU short and preempts nobody."""
    return lender_and_borrower(
        job("long", queue="borrower", cpu=6, runtime="40s"),
        job("late", queue="borrower", cpu=3, arrival="1s"),
        until_ms=2_000,
        **policy,
    )


def test_waiting_names_whose_end_lets_it_in() -> None:
    world = _stuck()
    verdict = _of(counterfactuals(world, workload(world, "late")), "wait")
    assert verdict.verdict == "yes"
    assert verdict.finishes == [str(workload(world, "long"))]
    assert verdict.outcome.at_ms == 40_000


def test_the_smallest_quota_that_works_is_found() -> None:
    world = _stuck()
    verdict = _of(counterfactuals(world, workload(world, "late")), "nominalQuota")
    assert verdict.verdict == "yes"
    assert [(a.flavor, a.amount) for a in verdict.amounts] == [("default", "1000")]
    assert verdict.outcome.tick == 3


def test_the_change_is_a_patch_of_the_object() -> None:
    world = _stuck()
    verdict = _of(counterfactuals(world, workload(world, "late")), "nominalQuota")
    assert verdict.change is not None
    (edit,) = verdict.change.edits
    (group,) = edit.patch["spec"]["resourceGroups"]
    assert (edit.kind, edit.name) == ("ClusterQueue", "borrower")
    assert group["flavors"][0]["resources"][0]["nominalQuota"] == "5"


def test_the_smallest_priority_that_works_reports_its_price() -> None:
    world = _stuck()
    verdict = _of(counterfactuals(world, workload(world, "late")), "priority")
    assert (verdict.value, verdict.now) == ("1", "0")
    (victim,) = verdict.outcome.victims
    assert victim.workload == str(workload(world, "long"))
    assert victim.reason == "InClusterQueue"
    assert verdict.outcome.work_lost_ms == 2_000


def test_weight_is_asked_under_fair_sharing_only() -> None:
    for policy, kinds in (({}, set()), (FAIR, {"weight"})):
        world = _stuck(policy=policy)
        answer = counterfactuals(world, workload(world, "late"))
        assert {v.kind for v in answer.verdicts} & {"weight"} == kinds


def test_admitted_with_pods_that_find_no_node_is_a_but() -> None:
    world = lender_and_borrower(
        job("long", queue="borrower", cpu=6, runtime="40s"),
        job("late", queue="borrower", cpu=3, arrival="1s"),
        node("small", cpu=6),
        until_ms=2_000,
    )
    answer = counterfactuals(world, workload(world, "late"), horizon_ms=20_000)
    verdict = _of(answer, "nominalQuota")
    assert (verdict.verdict, verdict.outcome.pods) == ("but", "pending")
    assert "0/1 nodes are available" in verdict.outcome.pods_message


def test_pods_that_are_not_made_yet_do_not_pass_for_placed() -> None:
    world = lender_and_borrower(
        job("long", queue="borrower", cpu=6, runtime="40s"),
        job("late", queue="borrower", cpu=3, arrival="1s"),
        node("small", cpu=6),
        until_ms=2_000,
        policy={"simulation": {"latencies": {"jobStart": "300ms"}}},
    )
    answer = counterfactuals(world, workload(world, "late"), horizon_ms=20_000)
    verdict = _of(answer, "nominalQuota")
    assert (verdict.verdict, verdict.outcome.pods) == ("but", "pending")
    assert "Insufficient cpu" in verdict.effect


def test_moving_to_another_queue_moves_its_job_too() -> None:
    world = _stuck()
    verdict = _of(counterfactuals(world, workload(world, "late")), "localQueue")
    assert verdict.verdict == "yes"
    assert verdict.change is not None
    assert [edit.kind for edit in verdict.change.edits] == ["Job", "Workload"]


def test_no_more_than_the_limit_of_runs_is_made() -> None:
    world = _stuck()
    answer = counterfactuals(world, workload(world, "late"), limit=3)
    assert answer.runs <= 3
    assert answer.tried < answer.questions


def test_what_holds_quota_is_asked_nothing() -> None:
    world = _stuck()
    answer = counterfactuals(world, workload(world, "long"))
    assert (answer.questions, answer.verdicts) == (0, [])


def test_an_answer_is_plain_json() -> None:
    world = _stuck()
    document = to_document(counterfactuals(world, workload(world, "late")))
    assert document["verdicts"][0]["outcome"]["workLostMs"] == 0


@pytest.mark.parametrize("seed", range(10))
def test_every_yes_is_true_when_the_change_is_really_made(seed: int) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    run_to(world, START_MS)
    for key in waiting(world)[:3]:
        before = world.hash()
        answer = counterfactuals(world, key, horizon_ms=HORIZON_MS, limit=25)
        assert world.hash() == before
        for verdict in answer.verdicts:
            _holds(world, key, verdict)


def _holds(world: World, key: Key, verdict: Verdict) -> None:
    """Make the change on a copy made of bytes, and tick it, as a sandbox would."""
    copy = world.copy()
    if verdict.change is not None:
        apply(copy, verdict.change)
    decisions = copy.take().decisions
    admitted = None
    while admitted is None and copy.context.now_ms < START_MS + HORIZON_MS:
        decisions += run_tick(copy)
        copy.take()
        admitted = next(
            (d for d in decisions if isinstance(d, Admit) and d.subject == key), None
        )
    claimed = verdict.outcome.at_ms
    if claimed is None:
        assert admitted is None or admitted.at_ms > verdict.outcome.ran_to_ms
        return
    assert admitted is not None
    assert (admitted.at_ms, copy.tick) == (claimed, verdict.outcome.tick)
    victims = [
        str(d.subject)
        for d in decisions[: decisions.index(admitted)]
        if isinstance(d, Preempt) and d.by == key
    ]
    assert victims == [victim.workload for victim in verdict.outcome.victims]


@pytest.mark.parametrize("seed", range(6))
def test_looking_at_what_works_soon_first_gives_the_same_verdicts(seed: int) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    run_to(world, START_MS)
    for key in waiting(world)[:2]:
        whole, soon = (
            counterfactuals(world, key, horizon_ms=HORIZON_MS, limit=200, soon_ms=each)
            for each in (0, 5_000)
        )
        assert to_document(soon)["verdicts"] == to_document(whole)["verdicts"]


def test_what_works_at_once_is_told_before_what_happens_with_nothing_changed() -> None:
    world = _stuck()
    told: list[list[str]] = []
    counterfactuals(
        world,
        workload(world, "late"),
        tell=lambda found: told.append([one.kind for one in found.verdicts]),
    )
    assert told[0] == ["nominalQuota"]
    assert told[-1][0] == "wait"
