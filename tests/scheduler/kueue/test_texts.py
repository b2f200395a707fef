"""Statements of the texts in worlds in which nothing else gives the same answer."""

from __future__ import annotations

from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig


def test_queues_that_borrow_are_served_by_the_age_of_their_workload():
    rig = Rig()
    rig.queue("owner", cpu=3, cohort="lab")
    rig.queue("early", cpu=0, cohort="lab")
    rig.queue("a-late", cpu=0, cohort="lab")
    holder = rig.workload("holder", "owner", cpu=3)
    rig.run(0)
    rig.context.now_ms = 1000
    rig.workload("first", "early", cpu=3)
    rig.run(1)
    rig.context.now_ms = 2000
    rig.workload("second", "a-late", cpu=3)
    rig.run(2)
    rig.stage.finish(holder, "Succeeded", "")
    rig.run(3)
    assert rig.runs() == ["first"]


def test_a_queue_gives_no_more_than_it_borrows():
    rig = Rig()
    rig.queue("owner", cpu=6, cohort="lab", reclaim="Any")
    rig.queue("lender", cpu=6, cohort="lab")
    rig.queue("guest", cpu=0, cohort="lab")
    for number in range(4):
        rig.workload(f"lender-{number}", "lender", cpu=2)
    for number in range(2):
        rig.workload(f"guest-{number}", "guest", cpu=2, priority=50)
    rig.run(0)
    rig.workload("owner", "owner", cpu=6)
    preempted = [name for what, name, _ in rig.run(1) if what == "Preempt"]
    assert preempted == ["lender-0", "guest-0", "guest-1"]


def test_a_queue_at_its_nominal_quota_has_no_victims_for_others():
    rig = Rig()
    rig.queue("owner", cpu=4, cohort="lab", reclaim="Any")
    rig.queue("neighbour", cpu=4, cohort="lab")
    rig.queue("guest", cpu=0, cohort="lab")
    rig.workload("at-home", "neighbour", cpu=4)
    rig.workload("lent", "guest", cpu=4, priority=50)
    rig.run(0)
    rig.workload("owner", "owner", cpu=4)
    assert ("Preempt", "lent", "InCohortReclamation") in rig.run(1)
    assert rig.runs() == ["at-home", "owner"]


def test_the_share_in_the_status_is_divided_by_the_weight():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=8, cohort="lab")
    rig.queue("heavy", cpu=0, cohort="lab", weight="2")
    rig.workload("lent", "heavy", cpu=4)
    rig.run(0)
    status = rig.status("ClusterQueue", "heavy")
    assert status["fairSharing"] == {"weightedShare": 250}


def test_what_a_queue_uses_of_its_own_is_no_part_of_its_share():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=6, cohort="lab")
    rig.queue("guest", cpu=2, cohort="lab")
    rig.workload("both", "guest", cpu=4)
    rig.run(0)
    status = rig.status("ClusterQueue", "guest")
    assert status["fairSharing"] == {"weightedShare": 250}


def test_of_two_heads_the_one_whose_queue_would_hold_less_is_admitted_first():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=6, cohort="lab")
    rig.queue("a-much", cpu=0, cohort="lab")
    rig.queue("little", cpu=0, cohort="lab")
    rig.workload("held", "a-much", cpu=3)
    rig.workload("busy", "owner", cpu=3)
    rig.run(0)
    rig.workload("more", "a-much", cpu=3)
    rig.workload("new", "little", cpu=3)
    rig.run(1)
    rig.stage.finish(Key("Workload", "default", "busy"), "Succeeded", "")
    rig.run(2)
    assert rig.runs() == ["held", "new"]


def test_the_condition_of_a_victim_names_uid_and_path_of_the_preemptor():
    rig = Rig()
    rig.queue("q", cohort="lab", within="LowerPriority")
    rig.workload("low", "q", cpu=4)
    rig.run(0)
    rig.workload("high", "q", cpu=4, priority=1)
    rig.run(1)
    message = rig.condition("low", "Preempted")[2]
    assert f"(UID: {rig.work('high').uid}," in message
    assert "preemptor path: /lab/q;" in message
