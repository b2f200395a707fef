"""What is released when a ClusterQueue is deleted."""

from __future__ import annotations

from scheduler.records.objects import Key
from tests.scheduler.kueue.rig import Rig


def test_what_a_deleted_queue_had_borrowed_goes_to_who_waits_in_its_cohort():
    rig = Rig()
    rig.queue("a", 1, cohort="c")
    rig.queue("b", 4, cohort="c")
    rig.workload("borrows", "a", 4)
    rig.run(0)
    rig.workload("waits", "b", 4)
    assert rig.run(1) == []
    rig.stage.remove(Key("ClusterQueue", "", "a"))
    rig.run(2)
    assert rig.runs() == ["waits"]


def test_a_queue_whose_flavor_is_deleted_admits_nobody():
    rig = Rig()
    rig.queue("a", 4)
    rig.run(0)
    rig.stage.remove(Key("ResourceFlavor", "", "f"))
    rig.workload("waits", "a", 1)
    assert rig.run(1) == []
    rig.put("ResourceFlavor", "f", {}, namespace="")
    rig.run(2)
    assert rig.runs() == ["waits"]
