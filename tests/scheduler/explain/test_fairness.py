"""Shares with their numbers, lenders and borrowers, and whose turn it is."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.fairness import fairness
from scheduler.engine.kueue.tree.quota import weighted_share
from scheduler.engine.world import World, fork
from tests.builders import job
from tests.scheduler.explain.worlds import (
    FAIR,
    contended,
    lender_and_borrower,
    run_to,
    workload,
)


def _world(policy=FAIR) -> World:
    return lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=2) for n in range(5)),
        job("wants", queue="borrower", cpu=3, arrival="2s"),
        until_ms=3_000,
        policy=policy,
        idle=True,
    )


def test_the_formula_has_the_numbers_of_the_share() -> None:
    answer = fairness(_world())
    formula = next(f for f in answer.formulas if f.name == "borrower")
    (fraction,) = formula.fractions
    assert (fraction.borrowed, fraction.lendable) == ("6000", "12000")
    assert (fraction.ratio, fraction.winning, formula.share) == (500.0, True, 500.0)
    assert len(fraction.workloads) == 5


def test_what_is_borrowed_comes_from_those_who_have_it_to_spare() -> None:
    flows = [
        (f.lender.name, f.borrower.name, f.amount) for f in fairness(_world()).flows
    ]
    assert flows == [("idle", "borrower", "3000"), ("lender", "borrower", "3000")]


def test_heads_report_their_share_after_admission() -> None:
    world = _world()
    (head,) = fairness(world).heads
    assert head.workload == str(workload(world, "wants"))
    assert (head.share_after, head.status) == (pytest.approx(9000 / 12), "refused")


def test_the_next_victim_is_the_newest_of_who_borrows_most() -> None:
    (victim,) = fairness(_world()).next_victims
    assert (victim.queue, victim.amount, victim.share) == ("borrower", "2000", 500.0)


def test_the_next_victim_is_known_without_fair_sharing_too() -> None:
    classical, fair = fairness(_world({})), fairness(_world())
    assert not classical.fair_sharing
    assert classical.next_victims == fair.next_victims


@pytest.mark.parametrize("seed", range(12))
def test_shares_and_flows_add_up_in_any_world(seed: int) -> None:
    world = contended(seed, fair=seed % 2 == 0)
    for until_ms in (5_000, 10_000, 20_000):
        run_to(world, until_ms)
        before = world.hash()
        answer = fairness(world)
        assert world.hash() == before
        stage = fork(world).kueue
        assert stage is not None
        nodes = {(node.kind, node.name): node for node in stage.cluster.forest.nodes()}
        for formula in answer.formulas:
            node = nodes[formula.kind, formula.name]
            shown = weighted_share(node)
            assert formula.share is None or -(-formula.share // 1) == shown
            for place, resource_node in node.resource_nodes.items():
                lent = sum(
                    int(flow.amount)
                    for flow in answer.flows
                    if (flow.borrower.kind, flow.borrower.name)
                    == (node.kind, node.name)
                    and (flow.flavor, flow.resource) == place
                    and flow.cohort == formula.parent
                )
                borrowed = max(0, resource_node.usage - resource_node.subtree_quota)
                assert lent == borrowed
