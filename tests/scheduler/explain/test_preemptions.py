"""A preemption step by step is the one that was decided."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest

from scheduler.analysis.explain.preemptions import explain_preemption
from scheduler.analysis.explain.shapes import Preemption
from scheduler.cli.explain import main as command
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Preempt
from scheduler.model.errors import SchedulerError
from tests.builders import job
from tests.scheduler.explain.worlds import (
    CLASSICAL,
    FAIR,
    contended,
    lender_and_borrower,
)


def _first_preemption(world: World, ticks: int = 30) -> Preemption:
    for _ in range(ticks):
        before = fork(world)
        for decision in run_tick(world):
            if isinstance(decision, Preempt):
                found = explain_preemption(before, decision)
                assert isinstance(found, Preemption)
                return found
        world.take()
    raise AssertionError("nobody was preempted")


def _reclaim() -> World:
    return lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=2) for n in range(4)),
        job("p", queue="lender", cpu=3, arrival="5s"),
    )


def test_candidates_come_in_order_until_the_preemptor_fits() -> None:
    steps = _first_preemption(_reclaim()).search.steps
    candidates = [step for step in steps if step.kind == "candidate"]
    assert [step.verdict for step in candidates] == ["taken", "taken"]
    assert [step.fits for step in candidates] == [False, True]
    assert [step.quota_checks[0].available for step in candidates] == ["2000", "4000"]


def test_the_cost_of_a_search_is_its_looks_and_its_tries_of_the_quota() -> None:
    found = _first_preemption(_reclaim())
    # Two candidates are taken; the first is put back and needed.
    assert (found.search.cost.looked, found.search.cost.simulations) == (2, 3)
    assert found.cost.searches >= 1
    assert found.cost.looked >= found.search.cost.looked


def test_every_step_says_its_numbers() -> None:
    steps = _first_preemption(_reclaim()).search.steps
    assert steps[0].kind == "setup"
    assert steps[0].sentence == (
        "3 CPU are needed, 0 CPU are free: 4 candidates of 4 in borrower (Any)."
    )
    assert all(step.headline and step.sentence for step in steps)
    assert steps[-1].kind == "targets"


def test_targets_that_are_not_needed_are_put_back() -> None:
    world = lender_and_borrower(
        job("small", queue="borrower", cpu=1, arrival="2s"),
        job("large", queue="borrower", cpu=7),
        job("p", queue="lender", cpu=2, arrival="5s"),
    )
    preemption = _first_preemption(world)
    put_back = [s for s in preemption.search.steps if s.kind == "putBack"]
    assert [(s.verdict, s.quota_checks[0].available) for s in put_back] == [
        ("spared", "7000")
    ]
    assert [v.queue for v in preemption.targets] == ["borrower"]
    assert preemption.targets[0].held[0].amount == "7000"


def test_whose_priority_is_too_high_is_refused_while_borrowing() -> None:
    world = lender_and_borrower(
        job("mine", queue="borrower", cpu=6, priority_class="high"),
        job("other", queue="borrower", cpu=2),
        job("p", queue="borrower", cpu=2, arrival="5s", priority_class="high"),
    )
    search = _first_preemption(world).search
    source = next(s for s in search.sources if s.relation == "same")
    assert (source.policy, source.holders, source.candidates) == ("LowerPriority", 2, 1)


@pytest.mark.parametrize(
    ("policy", "relation", "why"),
    [
        (CLASSICAL, "hierarchy", "within its nominal quota"),
        (FAIR, "fair", "borrows none of it"),
    ],
)
def test_each_queue_is_a_source_once_or_said_to_be_none(
    policy: dict[str, Any], relation: str, why: str
) -> None:
    world = lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=1) for n in range(12)),
        job("p", queue="lender", cpu=4, arrival="5s"),
        policy=policy,
        idle=True,
    )
    sources = _first_preemption(world).search.sources
    assert sorted(
        (source.queue, source.relation, source.why) for source in sources
    ) == [
        ("borrower", relation, ""),
        ("idle", "other", why),
        ("lender", "same", ""),
    ]


def test_a_candidate_says_since_when_it_holds_quota() -> None:
    world = lender_and_borrower(
        job("early", queue="borrower", cpu=4),
        job("late", queue="borrower", cpu=4, arrival="3s"),
        job("p", queue="lender", cpu=4, arrival="5s"),
    )
    steps = _first_preemption(world).search.steps
    assert [s.reserved_ms for s in steps if s.kind == "candidate"] == [3_000]


def test_fair_sharing_compares_shares_at_every_candidate() -> None:
    world = lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=1) for n in range(12)),
        job("p", queue="lender", cpu=6, arrival="5s"),
        policy=FAIR,
        idle=True,
    )
    preemption = _first_preemption(world)
    tests = [s.test for s in preemption.search.steps if s.kind == "candidate"]
    first = tests[0]
    assert first is not None
    assert (first.preemptor_share, first.target_share_after) == (
        pytest.approx(2000 / 12),
        pytest.approx(7000 / 12),
    )
    before = {row.name: row.before for row in preemption.shares}
    after = {row.name: row.after for row in preemption.shares}
    assert before == {"borrower": pytest.approx(8000 / 12), "lender": 0, "idle": 0}
    assert after["borrower"] == after["lender"] == pytest.approx(2000 / 12)
    assert {v.reason for v in preemption.targets} == {"InCohortFairSharing"}


def test_a_share_test_that_fails_refuses_the_candidate() -> None:
    world = lender_and_borrower(
        job("small", queue="borrower", cpu=1),
        job("large", queue="borrower", cpu=11, priority_class="high"),
        job("p", queue="lender", cpu=6, arrival="5s"),
        policy=FAIR,
        idle=True,
    )
    preemption = _first_preemption(world)
    refused = [
        (s.rule, s.test.target_share_after)
        for s in preemption.search.steps
        if s.verdict == "refused" and s.test is not None
    ]
    assert refused == [("LessThanOrEqualToFinalShare", 0.0)]
    assert [v.held[0].amount for v in preemption.targets] == ["11000"]


@pytest.mark.parametrize("seed", range(24))
def test_what_is_explained_is_what_was_decided(seed: int) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    for _ in range(25):
        before = fork(world)
        reported = [d for d in run_tick(world) if isinstance(d, Preempt)]
        for decision in reported:
            preemption = explain_preemption(before, decision)
            mine = {
                (str(d.subject), d.reason)
                for d in reported
                if d.by == decision.by and d.at_ms == decision.at_ms
            }
            targets = {(v.workload, v.reason) for v in preemption.targets}
            assert targets >= {(str(decision.subject), decision.reason)}
            assert targets <= mine | {
                (v.workload, v.reason) for v in preemption.targets if v.at_ms is None
            }
        world.take()


def test_a_tick_that_did_not_decide_it_is_refused() -> None:
    world = _reclaim()
    decision = None
    while decision is None:
        found = [d for d in run_tick(world) if isinstance(d, Preempt)]
        decision = found[0] if found else None
    run_tick(world)
    with pytest.raises(SchedulerError, match="does not let"):
        explain_preemption(world, decision)


@pytest.mark.parametrize(
    ("scenario", "preemptor", "line"),
    [
        (
            "classical-reclaim",
            "owner",
            "cost: searches 1, candidates looked at 2, simulations 3",
        ),
        ("yunikorn-who-may-go", "first", "node-1: chosen Pod/default/old"),
    ],
)
def test_the_command_says_how_one_preempted_and_at_what_cost(
    scenario: str, preemptor: str, line: str
) -> None:
    out = StringIO()
    asked = [
        f"sandbox/scenarios/{scenario}",
        "--at",
        "31s",
        "--about",
        preemptor,
        "--steps",
    ]
    assert command(asked, out) == 0
    assert line in [one.strip() for one in out.getvalue().splitlines()]
