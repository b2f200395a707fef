"""What a proof comes to: smaller within its runs, held against the base, or nothing."""

from __future__ import annotations

from scheduler.analysis.advice.advisor import Advisor, advise
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.ledger import RunLedger
from scheduler.analysis.advice.proof import Proof
from scheduler.analysis.advice.space import Point
from tests.scheduler.advice.worlds import SmallWorld, Team, advisor_of

QUEUES = tuple(Team(f"q{n}", 8, 2, 20, 1, 10) for n in range(8))
STRATEGIES = SmallWorld("eight strategies", QUEUES, [{"queueingStrategy": {}}])
TWO = SmallWorld(
    "two queues",
    QUEUES[:2],
    [{"quota": {"flavor": "default", "resource": "cpu", "step": 2}}],
)
WAIT = "workloads.meanMs"


def ledger_of(advisor: Advisor) -> RunLedger:
    return RunLedger(space=advisor.space, goal=advisor.goal, seeds=advisor.seeds)


def shrunk(advisor: Advisor, start: Point, shrinking: int) -> tuple[Point, int]:
    """What is left of a setting of which the first edit alone does anything, and the runs."""
    proof = Proof(
        ledger=ledger_of(advisor),
        point=start,
        held_out=advisor.held_out,
        tolerance=0.01,
        shrinking=shrinking,
    )
    base = advisor.space.base
    proof.ledger.known.update(
        {(p, seed): waits(base, p) for p in (base, start) for seed in proof.seeds}
    )
    before = len(proof.ledger.known)
    for asked in proof.shrink():
        proof.ledger.store.update({(p, seed): waits(base, p) for p, seed in asked})
    return proof.point, len(proof.ledger.known) - before


def waits(base: Point, point: Point) -> Numbers:
    return {WAIT: 50.0 if point[0] != base[0] else 100.0}


def test_edits_that_do_nothing_are_taken_away_at_once():
    advisor, _ = advisor_of(STRATEGIES)
    start = tuple(1 - index for index in advisor.space.base)
    point, runs = shrunk(advisor, start, 100)
    assert advisor.space.edited(point) == [0]
    assert runs <= 2 * (len(start) + 1) + 6


def test_a_setting_is_made_smaller_within_the_runs_that_there_are():
    advisor, _ = advisor_of(STRATEGIES)
    start = tuple(1 - index for index in advisor.space.base)
    assert shrunk(advisor, start, 10)[1] <= 10
    assert shrunk(advisor, start, 0) == (start, 0)


def test_where_the_best_few_are_no_better_with_fresh_seeds_the_base_is_the_answer():
    advisor, _ = advisor_of(TWO, runs=40)

    def lucky(ask: tuple[Point, int]) -> Numbers:
        point, seed = ask
        if point == advisor.space.base:
            return {WAIT: 100.0}
        return {WAIT: 90.0 if seed in advisor.seeds else 130.0}

    answer = advise(advisor, lucky)
    assert answer.edits == []
    assert answer.verdict == "no improvement found"


def test_what_held_out_seeds_do_not_show_is_not_handed_over():
    advisor, _ = advisor_of(TWO, runs=40)

    def lucky(ask: tuple[Point, int]) -> Numbers:
        point, seed = ask
        better = point != advisor.space.base and seed not in advisor.held_out
        return {WAIT: 90.0 if better else 100.0}

    answer = advise(advisor, lucky)
    assert answer.verdict == "no improvement found"
    assert answer.edits
    assert answer.patches == ""


def test_what_comes_nearer_to_a_bound_on_held_out_seeds_is_handed_over_as_unmet():
    bounded = TWO._replace(constraints=[{"measure": WAIT, "max": 60}])
    advisor, _ = advisor_of(bounded, runs=40)

    def nearer(ask: tuple[Point, int]) -> Numbers:
        point, seed = ask
        if point == advisor.space.base:
            return {WAIT: 100.0}
        return {WAIT: 70.0 if seed in advisor.held_out else 50.0}

    answer = advise(advisor, nearer)
    assert answer.verdict == "unmet"
    assert answer.patches


def test_what_nobody_may_lose_is_held_against_the_base_with_the_same_seeds():
    nobody = TWO._replace(constraints=[{"measure": WAIT, "loses": 0.1}])
    advisor, _ = advisor_of(nobody)
    ledger, base = ledger_of(advisor), advisor.space.base
    ledger.known.update(
        {(base, 1): {WAIT: 10_000.0}, (base, 2): {WAIT: 90_000.0}}
        | {((1, 7), 1): {WAIT: 11_000.0}, ((1, 7), 2): {WAIT: 190_000.0}}
    )
    ledger.bounds = advisor.goal.bounds(ledger.runs(base, (1,)) or [])
    assert ledger.violation(base, (2,)) == 0
    assert ledger.violation((1, 7), (1,)) == 0
    assert ledger.violation((1, 7), (2,)) > 0
