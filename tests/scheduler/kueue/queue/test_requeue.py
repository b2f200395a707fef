"""Where a head goes that was tried and not admitted."""

from __future__ import annotations

import pytest

from scheduler.engine.kueue.queue.pending import PendingQueue
from scheduler.engine.kueue.queue.requeue import (
    RequeueReason,
    backoff_over,
    requeue_head,
)
from scheduler.engine.kueue.scheduler.strategies.strict_fifo import (
    BestEffortFIFO,
    StrictFIFO,
)
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig

NOW = 1_000_000


@pytest.fixture
def work():
    rig = Rig()
    rig.queue("q")
    rig.workload("a", "q")
    rig.controllers()
    return rig.work("a")


def inadmissible(work):
    """Put a head back that its strategy would try again at once."""
    pending = PendingQueue(equivalence_hashing=False)
    aside = requeue_head(
        pending,
        work,
        strategy=StrictFIFO(),
        reason=RequeueReason.GENERIC,
        why="",
        now_us=NOW,
    )
    assert aside == (pending.pop() is None)
    return aside


@pytest.mark.parametrize("strategy", [StrictFIFO(), BestEffortFIFO()])
def test_only_a_sticky_strategy_tries_who_preempts_before_all_others(work, strategy):
    pending = PendingQueue(equivalence_hashing=strategy.equivalence_hashing)
    requeue_head(
        pending,
        work,
        strategy=strategy,
        reason=RequeueReason.PENDING_PREEMPTION,
        why="",
        now_us=NOW,
    )
    assert (pending.preemptor is work) == strategy.sticky


def test_a_head_goes_straight_back(work):
    assert not inadmissible(work)


def test_a_head_whose_backoff_runs_is_set_aside(work):
    work.requeue_at_us = NOW + 1
    assert inadmissible(work)


def test_a_backoff_is_over_at_its_very_instant(work):
    work.requeue_at_us = NOW
    assert not inadmissible(work)


@pytest.mark.parametrize(("status", "over"), [(False, False), (True, True)])
def test_requeued_false_is_a_backoff_without_an_end(work, status, over):
    work.conditions["Requeued"] = Condition(status, "", "", 0)
    assert backoff_over(work, NOW) is over


def test_a_class_that_failed_takes_nobody_back_whose_backoff_runs(work):
    """A started LocalQueue put it into the heap all the same, where it failed."""
    pending = PendingQueue(equivalence_hashing=True)
    work.requeue_at_us = NOW + 1
    pending.push_backing_off(work)
    pending.mark_class_inadmissible(work.scheduling_hash, "")
    pending.requeue_inadmissible(
        lambda namespace: True, lambda it: backoff_over(it, NOW)
    )
    assert pending.is_inadmissible(work)


def test_two_requests_of_one_tree_do_not_hide_that_of_another():
    rig = Rig()
    for name, cohort in (("a", "c"), ("b", "c"), ("alone", "")):
        rig.queue(name, 1, cohort=cohort)
        rig.workload(f"holds-{name}", name, 1)
    rig.run(0)
    for name in ("a", "b", "alone"):
        rig.workload(f"waits-{name}", name, 1)
    rig.run(1)
    for name in ("a", "b", "alone"):
        rig.stage.finish(Key("Workload", "default", f"holds-{name}"))
    rig.run(2)
    assert rig.runs() == ["waits-a", "waits-alone", "waits-b"]
