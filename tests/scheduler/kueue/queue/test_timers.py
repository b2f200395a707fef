"""Timeouts, backoffs and deadlines are those of the text, read second by second."""

from __future__ import annotations

import random

import pytest

from scheduler.engine.kueue.queue.requeue import TimerHeap
from scheduler.engine.stage import Context
from scheduler.model.objects import Key
from tests.conformance import kueue
from tests.scheduler.kueue.reference.timers import Event, OpenOrderError, Timers, case

CASES = 25
# A held LocalQueue opens again; the like of one of its Workloads has failed.
OPENED = [3645, 3681, 4359, 5199]


def decided(script: dict) -> list[Event]:
    return [
        (event["tMs"] // 1000, event["ev"], event["wl"][3:], event.get("reason", ""))
        for event in kueue.decide(script)["events"]
    ]


def expected(script: dict) -> tuple[list[Event], int | None]:
    """Return the events of the text, and of how many it tells; None = of all."""
    try:
        return Timers(script).run(), None
    except OpenOrderError as tie:
        return tie.events, len(tie.events)


def test_timers_of_drawn_workloads_are_those_of_the_text():
    seed = random.getrandbits(32)
    draw = random.Random(seed)
    for _ in range(CASES):
        script = case(draw)
        events, recorded = expected(script)
        assert decided(script)[:recorded] == events, seed


@pytest.mark.parametrize("seed", OPENED)
def test_a_workload_in_the_heap_stays_there_when_its_condition_changes(seed):
    script = case(random.Random(seed))
    events, recorded = expected(script)
    assert decided(script)[:recorded] == events


def test_an_instant_that_was_moved_or_taken_away_is_not_due():
    context = Context(seed=1, epoch_us=0)
    timers = TimerHeap(context)
    moved, taken = Key("Workload", "", "moved"), Key("Workload", "", "taken")
    timers.set(moved, 3)
    timers.set(taken, 4)
    timers.set(moved, 9)
    timers.set(taken, None)
    assert timers.due() == 9
    context.now_ms = 8
    assert timers.pop_due() is None
    context.now_ms = 9
    assert (timers.pop_due(), timers.pop_due(), timers.due()) == (moved, None, None)
