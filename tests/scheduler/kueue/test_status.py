"""Status as the API shows it."""

from __future__ import annotations

from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig


def shared() -> Rig:
    rig = Rig({"fairSharing": {}})
    rig.put("Cohort", "lab", {}, namespace="")
    rig.queue("a", cpu=2, cohort="lab")
    rig.queue("b", cpu=6, cohort="lab")
    rig.workload("w", "a", cpu=4)
    rig.workload("wide", "a", cpu=100)
    rig.run(0)
    return rig


def test_a_cluster_queue_reports_what_it_uses_and_borrows():
    status = shared().status("ClusterQueue", "a")
    cpu = {"name": "cpu", "total": "4", "borrowed": "2"}
    assert status["flavorsReservation"] == [{"name": "f", "resources": [cpu]}]
    assert status["flavorsUsage"] == status["flavorsReservation"]
    assert status["fairSharing"] == {"weightedShare": 250}


def test_a_cluster_queue_counts_its_workloads():
    status = shared().status("ClusterQueue", "a")
    counts = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")
    assert [status[name] for name in counts] == [1, 1, 1]


def test_a_cluster_queue_says_why_it_admits_nothing():
    rig = shared()
    rig.context.now_ms = 5000
    rig.queue("a", cpu=2, cohort="lab", stop="Hold")
    rig.run(6)
    (condition,) = rig.status("ClusterQueue", "a")["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "Stopped")
    assert condition["message"] == "Can't admit new workloads: is stopped."
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:05Z"


def test_a_local_queue_counts_and_sums_its_own():
    status = shared().status("LocalQueue", "a", "default")
    assert status["pendingWorkloads"] == 1
    assert status["admittedWorkloads"] == 1
    cpu = {"name": "cpu", "total": "4"}
    assert status["flavorsReservation"] == [{"name": "f", "resources": [cpu]}]


def test_a_cohort_reports_its_weighted_share():
    assert shared().status("Cohort", "lab") == {"fairSharing": {"weightedShare": 0}}


def test_a_workload_reports_its_admission_and_conditions():
    status = shared().status("Workload", "w", "default")
    assert status["admission"] == {
        "clusterQueue": "a",
        "podSetAssignments": [
            {
                "name": "main",
                "flavors": {"cpu": "f"},
                "resourceUsage": {"cpu": "4"},
                "count": 1,
            }
        ],
    }
    assert [(c["type"], c["status"]) for c in status["conditions"]] == [
        ("QuotaReserved", "True"),
        ("Admitted", "True"),
    ]


def test_fields_of_the_status_that_are_not_ours_stay():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q", status={"nominatedClusterNames": ["x"]})
    rig.run(0)
    status = rig.status("Workload", "w", "default")
    assert status["nominatedClusterNames"] == ["x"]


def test_conditions_of_a_preempted_workload_follow_its_story():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    rig.workload("low", "q")
    rig.run(0)
    rig.workload("high", "q", priority=1)
    rig.run(1)
    assert rig.condition("low", "Preempted")[:2] == (True, "InClusterQueue")
    assert rig.condition("low", "Evicted")[:2] == (True, "Preempted")
    assert rig.condition("low", "Requeued")[:2] == (True, "Preempted")
    assert rig.condition("low", "Admitted")[1] == "NoReservation"
    stats = rig.status("Workload", "low", "default")["schedulingStats"]
    assert stats["evictions"] == [
        {"reason": "Preempted", "underlyingCause": "", "count": 1}
    ]


def test_a_workload_admitted_again_says_what_it_was_evicted_for():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    rig.workload("low", "q")
    rig.run(0)
    high = rig.workload("high", "q", priority=1)
    rig.run(1)
    rig.stage.finish(high)
    rig.run(2)
    status, reason, message = rig.condition("low", "Evicted")
    assert (status, reason) == (False, "QuotaReserved")
    assert message.startswith("Previously: Preempted to accommodate a workload")


def test_a_local_queue_counts_all_who_are_admitted_through_it():
    rig = Rig()
    rig.queue("q", 4)
    for name in ("one", "two", "three"):
        rig.workload(name, "q")
    rig.run(0)
    found = rig.status("LocalQueue", "q", "default")
    assert (found["admittedWorkloads"], found["reservingWorkloads"]) == (3, 3)
    rig.stage.finish(Key("Workload", "default", "two"))
    rig.run(1)
    assert rig.status("LocalQueue", "q", "default")["admittedWorkloads"] == 2


def test_a_local_queue_that_came_after_its_workload_is_written():
    rig = Rig()
    rig.workload("early", "late")
    rig.queue("late")
    rig.context.journal.touched.clear()
    rig.run(0)
    assert Key("LocalQueue", "default", "late") in rig.context.journal.touched


def test_what_waits_for_a_check_is_reserved_and_not_yet_used():
    rig = Rig()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    rig.put("AdmissionCheck", "safe", {}, namespace="", status=active)
    rig.queue("a", cpu=4)
    checks = {"admissionChecks": [{"name": "safe"}]}
    rig.edit(Key("ClusterQueue", "", "a"), admissionChecksStrategy=checks)
    rig.workload("w", "a", cpu=3)
    rig.run(0)
    status = rig.status("ClusterQueue", "a")
    totals = [
        status[name][0]["resources"][0]["total"]
        for name in ("flavorsReservation", "flavorsUsage")
    ]
    assert totals == ["3", "0"]


def test_a_queue_changes_with_the_end_of_a_workload_in_it():
    rig = Rig()
    rig.queue("q", 2)
    key = rig.workload("w", "q")
    rig.run(0)
    rig.stage.life.flush()
    rig.context.journal.touched.clear()
    rig.stage.finish(key)
    rig.stage.life.flush()
    assert Key("ClusterQueue", "", "q") in rig.context.journal.touched


def test_a_queue_without_a_cohort_borrows_nothing_when_its_quota_is_cut():
    rig = Rig()
    rig.queue("a", cpu=4)
    rig.workload("w", "a", cpu=4)
    rig.run(0)
    rig.queue("a", cpu=1)
    rig.run(1)
    (flavor,) = rig.status("ClusterQueue", "a")["flavorsUsage"]
    assert flavor["resources"] == [{"name": "cpu", "total": "4", "borrowed": "0"}]


def test_conditions_name_no_generation_where_the_workload_has_none():
    conditions = shared().status("Workload", "w", "default")["conditions"]
    assert not any("observedGeneration" in one for one in conditions)


def verdict(rig: Rig) -> tuple[str, str, str]:
    (condition,) = rig.status("LocalQueue", "a", "default")["conditions"]
    return condition["status"], condition["reason"], condition["message"]


def test_a_local_queue_says_whether_it_takes_workloads():
    rig = Rig()
    rig.local("a")
    assert verdict(rig)[:2] == ("False", "ClusterQueueDoesNotExist")
    rig.queue("a", stop="Hold")
    rig.run(1)
    assert verdict(rig) == (
        "False",
        "ClusterQueueIsInactive",
        "Can't submit new workloads to clusterQueue",
    )
    rig.queue("a")
    rig.run(2)
    assert verdict(rig)[:2] == ("True", "Ready")
    rig.local("a", stop="Hold")
    rig.run(3)
    assert verdict(rig)[:2] == ("False", "Stopped")
