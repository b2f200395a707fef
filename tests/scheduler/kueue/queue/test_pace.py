"""The clock of admission cycles, and the second for which requeues are collected."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scheduler.engine.kueue.scheduler.preempting import CyclePace
from scheduler.engine.latencies import StepTimes
from scheduler.engine.tick import simulate
from scheduler.model.decisions import Admit, Decision, Wait
from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, job, local_queue, world_of


def pace(**latencies: str) -> CyclePace:
    world = world_of(simulation={"latencies": latencies})
    return CyclePace(StepTimes(world.context, world.policy))


def test_requests_of_one_tree_are_one_requeue_for_who_asked_first():
    collecting = pace(reactivation="1s")
    collecting.request_requeue("cohort c", "a", 0)
    collecting.request_requeue("cohort c", "b", 400)
    assert collecting.due(0, heads=False) == 1000
    assert collecting.due_requeues(999) == []
    assert collecting.due_requeues(1000) == ["a"]
    assert collecting.due_requeues(1000) == []


def test_each_tree_has_a_time_of_its_own_and_the_first_is_due_next():
    collecting = pace(reactivation="1s")
    collecting.request_requeue("queue b", "b", 0)
    collecting.request_requeue("queue a", "a", 300)
    assert collecting.due(0, heads=False) == 1000
    assert collecting.due_requeues(1300) == ["a", "b"]


def test_a_queue_and_a_cohort_of_one_name_are_two_trees():
    world = world_of(
        flavor(),
        cluster_queue("same", cpu=1),
        cluster_queue("other", cohort="same", cpu=1),
        *(local_queue(name, cluster_queue=name) for name in ("same", "other")),
        *(
            job(f"{name}-{number}", queue=name, cpu=1, runtime="5s")
            for name in ("same", "other")
            for number in range(2)
        ),
        simulation={"latencies": {"reactivation": "1s"}},
    )
    found = simulate(world, until_ms=9000).decisions
    assert [d.at_ms for d in found if isinstance(d, Admit)] == [0, 0, 6000, 6000]


def cycle(paced: CyclePace, now_ms: int, number: int, **outcome: bool) -> int:
    """Run one cycle from `now_ms`; return when it was over."""
    paced.begin(now_ms, number)
    assert paced.ends_ms is not None
    ended = paced.ends_ms
    paced.end(ended, number, **{"admitted": False, "moved": True, **outcome})
    return ended


def test_a_cycle_decides_at_its_end_and_no_other_begins_before():
    paced = pace(schedulingCycle="200ms")
    paced.begin(1000, 1)
    paced.begin(1100, 2)
    assert paced.due(1100, heads=False) == 1200
    assert not paced.over(1199)
    assert paced.over(1200)


def test_without_heads_no_cycle_is_due():
    paced = pace(schedulingCycle="200ms")
    assert paced.due(1000, heads=True) == 1000
    assert paced.due(1000, heads=False) is None


def test_after_a_cycle_that_admits_the_next_one_waits_for_the_writing():
    paced = pace(schedulingCycle="200ms", admission="50ms")
    assert cycle(paced, 1000, 1, admitted=False) == 1200
    assert paced.due(1200, heads=True) == 1200
    assert cycle(paced, 1200, 2, admitted=True) == 1400
    assert paced.due(1400, heads=True) == 1450
    paced.begin(1449, 3)
    assert paced.ends_ms is None


def test_a_cycle_takes_a_millisecond_at_least():
    assert cycle(pace(schedulingCycle="0s", admission="1s"), 1000, 1) == 1001


def test_after_two_cycles_that_moved_nothing_none_begins_until_something_changes():
    paced = pace(schedulingCycle="200ms")
    cycle(paced, 0, 1, moved=False)
    cycle(paced, 200, 2, moved=False)
    paced.begin(400, 3)
    assert (paced.ends_ms, paced.due(400, heads=True)) == (None, None)
    paced.note_change()
    assert cycle(paced, 400, 3) == 600


def test_a_cycle_that_moved_something_begins_the_count_anew():
    paced = pace(schedulingCycle="200ms")
    cycle(paced, 0, 1, moved=False)
    cycle(paced, 200, 2, moved=True)
    cycle(paced, 400, 3, moved=False)
    assert paced.due(600, heads=True) == 600


def test_without_latencies_nothing_is_paced_or_collected():
    instant = pace()
    assert not instant.paced
    assert not instant.collects
    assert instant.dump() == {}


def test_what_is_stored_is_read_back():
    stored = pace(schedulingCycle="200ms", reactivation="1s")
    cycle(stored, 100, 1, moved=False)
    stored.begin(300, 2)
    stored.request_requeue("queue a", "a", 100)
    again = pace(schedulingCycle="200ms", reactivation="1s")
    again.load(stored.dump())
    assert again.dump() == {
        "pace": [300, 500, 1],
        "wakes": {"queue a": [1100, "a"]},
    }


class FiveEach:
    """Writes each decision in 5 ms."""

    def length(self, decided: Sequence[Decision]) -> int:
        return 5 * len(decided)


def decisions(count: int) -> list[Decision]:
    return [Wait(at_ms=0, subject=Key("Workload", "", str(n))) for n in range(count)]


@pytest.mark.parametrize(("count", "ends"), [(3, 115), (0, 101)])
def test_a_cycle_lasts_until_all_that_it_decided_is_written(count, ends):
    paced = pace(schedulingCycle="200ms")
    paced.write(100, FiveEach(), decisions(count), moved=True)
    assert (paced.over(ends - 1), paced.over(ends)) == (False, True)
    assert not paced.may_begin(ends)
    paced.written(ends)
    assert paced.due(ends, heads=True) == ends
    assert (paced.may_begin(ends - 1), paced.may_begin(ends)) == (False, True)


def test_cycles_that_write_count_as_quiet_when_they_move_nothing():
    paced = pace(schedulingCycle="200ms")
    for moved, begins in ((False, True), (True, True), (False, True), (False, False)):
        paced.write(0, FiveEach(), (), moved=moved)
        paced.written(1)
        assert paced.may_begin(1) is begins


@pytest.mark.parametrize(("admission", "ends"), [("50ms", 150), ("0s", 101)])
def test_a_cycle_that_waited_for_pods_takes_the_time_of_its_admission(admission, ends):
    paced = pace(schedulingCycle="200ms", admission=admission)
    paced.resume(100, 1)
    paced.resume(120, 1)
    assert paced.ends_ms == ends
