"""Victims who turn out not to be needed are spared; the rest has Kueue's order."""

from __future__ import annotations

from tests.scheduler.kueue.rig import Rig


def preempted(needs: int, *running: tuple[str, int]) -> list[str]:
    """Return the victims, in order, of who needs so many CPUs of ten."""
    rig = Rig()
    rig.queue("q", 10, within="LowerPriority")
    for priority, (name, cpu) in enumerate(running):
        rig.workload(name, "q", cpu, priority=priority)
        rig.run(priority)
    rig.workload("urgent", "q", needs, priority=100)
    return [who for what, who, _ in rig.run(60) if what == "Preempt"]


def test_the_last_victim_takes_the_place_of_one_that_is_spared():
    running = [("small", 1), ("middle", 2), ("other", 2), ("large", 5)]
    assert preempted(9, *running) == ["large", "middle", "other"]


def test_who_could_not_be_spared_stays_and_a_smaller_one_goes_free():
    running = [("small", 1), ("large", 7), ("middle", 2)]
    assert preempted(7, *running) == ["large"]


def test_the_one_who_made_room_is_never_spared():
    assert preempted(3, ("first", 2), ("second", 8)) == ["second"]
