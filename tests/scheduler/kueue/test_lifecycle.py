"""What happens to workloads between admission and end.

From the text of the semantics, not recorded from the real system.
"""

from __future__ import annotations

import pytest

from scheduler.engine.kueue.flavorassigner.assigner import reduce_counts
from scheduler.model.objects import Key
from scheduler.model.podset_template import PodShape
from scheduler.model.workload import PodSet
from tests.scheduler.kueue.rig import EPOCH, Rig

WAITING = {
    "waitForPodsReady": {
        "timeout": "10s",
        "recoveryTimeout": "5s",
        "requeuingStrategy": {"backoffBaseSeconds": 60, "backoffLimitCount": 2},
    }
}
BLOCKING = {"waitForPodsReady": {"timeout": "10s", "blockAdmission": True}}


def test_pods_that_take_too_long_cost_the_place_and_come_back_after_a_backoff():
    rig = Rig(WAITING)
    rig.queue("q")
    rig.workload("slow", "q")
    rig.run(0)
    rig.run(9.9)
    assert rig.runs() == ["slow"]
    assert rig.run(10)[:1] == [("Evict", "slow", "PodsReadyTimeout")]
    assert rig.condition("slow", "Evicted")[2] == (
        "Exceeded the PodsReady timeout default/slow"
    )
    assert rig.work("slow").requeue_count == 1
    assert rig.run(69.9) == []
    assert rig.run(70.1) == [("Admit", "slow", "QuotaReserved")]
    assert rig.condition("slow", "Requeued")[:2] == (True, "BackoffFinished")


def test_the_timeout_counts_from_the_whole_second_that_was_written():
    rig = Rig(WAITING)
    rig.queue("q")
    rig.workload("slow", "q")
    rig.run(0.7)
    assert rig.run(9.9) == []
    assert rig.run(10)[:1] == [("Evict", "slow", "PodsReadyTimeout")]


def test_a_workload_that_ran_out_of_retries_is_deactivated():
    rig = Rig(WAITING)
    rig.queue("q")
    key = rig.workload("slow", "q")
    rig.run(0)
    rig.run(600)
    assert (
        rig.condition("slow", "Evicted")[1] == "DeactivatedDueToRequeuingLimitExceeded"
    )
    assert rig.condition("slow")[1:] == (
        "Deactivated",
        "The workload is deactivated",
    )
    rig.stage.write(rig.objects[key])
    assert rig.objects[key].spec["active"] is False
    assert "requeueState" not in rig.objects[key].status


def test_the_backoff_doubles_up_to_its_limit():
    rig = Rig(
        {
            "waitForPodsReady": {
                "timeout": "1s",
                "requeuingStrategy": {
                    "backoffBaseSeconds": 10,
                    "backoffMaxSeconds": 25,
                },
            }
        }
    )
    rig.queue("q")
    rig.workload("slow", "q")
    gaps = []
    for _ in range(3):
        rig.run(rig.context.now_ms / 1000)
        due = rig.stage.due()
        rig.run(due / 1000)
        at = rig.work("slow").requeue_at_us
        gaps.append(round((at - rig.context.now_us) / 1e6))
        rig.run(-(-at + rig.context.epoch_us) // 1000 / 1000 + 0.001)
    assert gaps == [10, 20, 25]


def test_ready_pods_stop_the_clock_and_lost_pods_start_the_recovery_clock():
    rig = Rig(WAITING)
    rig.queue("q")
    key = rig.workload("w", "q")
    rig.run(0)
    rig.context.now_ms = 5_000
    rig.stage.pods_ready(key, True)
    assert rig.run(100) == []
    rig.stage.pods_ready(key, False)
    assert rig.condition("w", "PodsReady")[1] == "WaitForRecovery"
    rig.run(104.9)
    assert rig.runs() == ["w"]
    assert ("Evict", "w", "PodsReadyTimeout") in rig.run(105)


def test_admissions_wait_until_all_pods_are_ready():
    rig = Rig(BLOCKING)
    rig.queue("q")
    first = rig.workload("first", "q")
    rig.workload("second", "q")
    rig.run(0)
    assert rig.runs() == ["first"]
    assert rig.condition("second")[1] == "WaitingForPodsReady"
    rig.stage.pods_ready(first, True)
    assert ("Admit", "second", "QuotaReserved") in rig.run(1)


def test_one_is_admitted_at_a_time_while_pods_are_waited_for():
    rig = Rig(BLOCKING)
    rig.queue("a")
    rig.queue("b")
    first = rig.workload("first", "a")
    rig.workload("second", "b")
    rig.run(0)
    assert rig.runs() == ["first"]
    boss = rig.workload("boss", "b", priority=10)
    assert rig.run(1) == []
    rig.stage.pods_ready(first, True)
    rig.run(2)
    assert sorted(rig.runs()) == ["first", "second"]  # its cycle went on
    rig.stage.pods_ready(Key("Workload", "default", "second"), True)
    assert ("Admit", boss.name, "QuotaReserved") in rig.run(3)


def waiting_since(second: int) -> dict:
    """A status as the head has it whose cycle waits for others' pods."""
    return {
        "conditions": [
            {
                "type": "QuotaReserved",
                "status": "False",
                "reason": "WaitingForPodsReady",
                "lastTransitionTime": f"2024-12-31T23:59:{second:02d}Z",
            }
        ]
    }


@pytest.mark.parametrize("order", [("left", "head"), ("head", "left")])
def test_a_cycle_that_came_waiting_for_pods_goes_on_with_its_head(order):
    rig = Rig(BLOCKING)
    since = {"left": 10, "head": 20}
    for name in order:
        rig.queue(name)
        rig.workload(name, name, status=waiting_since(since[name]))
    assert rig.run(0) == [("Admit", "head", "QuotaReserved")]


def test_a_held_head_whose_backoff_runs_is_stored_as_tried_before_its_time():
    rig = Rig(BLOCKING)
    rig.queue("a")
    rig.queue("b")
    early = rig.workload("early", "b")
    rig.run(0)
    rig.run(10)
    rig.workload("first", "a")
    rig.run(11)
    assert rig.runs() == ["first"]
    rig.queue("b", strategy="StrictFIFO")  # puts its workloads into a new queue
    rig.run(12)
    assert rig.condition("early")[1] == "WaitingForPodsReady"
    rig.status("Workload", "early", "default")
    assert rig.objects[early].state["kueue"]["added"] is True


def test_a_held_head_that_is_withdrawn_lets_the_next_one_in():
    rig = Rig(BLOCKING)
    rig.queue("a")
    rig.queue("b")
    first = rig.workload("first", "a")
    second = rig.workload("second", "b")
    rig.workload("third", "b")
    rig.run(0)
    rig.stage.remove(second)
    rig.stage.pods_ready(first, True)
    assert ("Admit", "third", "QuotaReserved") in rig.run(1)


def test_who_can_never_be_admitted_is_reported_once():
    rig = Rig()
    rig.queue("q", selector={"matchLabels": {"team": "other"}})
    rig.workload("stranger", "q")
    assert rig.waits(0) == [("Wait", "stranger", "Misconfigured")]
    assert rig.waits(1) == []


def test_too_long_a_run_is_deactivated_and_earlier_runs_count():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    rig.workload("long", "q", maximumExecutionTimeSeconds=100)
    rig.run(0)
    boss = rig.workload("boss", "q", priority=10)
    assert ("Preempt", "long", "InClusterQueue") in rig.run(60)
    assert rig.work("long").accumulated_s == 60
    rig.stage.finish(boss)
    rig.run(70)
    assert rig.runs() == ["long"]
    assert rig.run(109.9) == []
    rig.run(110)
    assert rig.condition("long", "Evicted")[1:] == (
        "DeactivatedDueToMaximumExecutionTimeExceeded",
        "The workload is deactivated due to exceeding the maximum execution time",
    )
    assert rig.work("long").accumulated_s == 0


def test_an_inactive_workload_gives_its_quota_back_and_does_not_queue():
    rig = Rig()
    rig.queue("q", cpu=1)
    key = rig.workload("w", "q")
    rig.workload("next", "q")
    rig.run(0)
    rig.edit(key, active=False)
    assert rig.run(1) == [
        ("Evict", "w", "Deactivated"),
        ("Admit", "next", "QuotaReserved"),
    ]
    assert rig.work("w").pending_queue is None


def test_a_workload_that_never_held_quota_queues_when_it_is_active_again():
    rig = Rig()
    rig.queue("q")
    key = rig.workload("w", "q", active=False)
    rig.run(0)
    assert rig.runs() == []
    rig.edit(key, active=True)
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]


def test_a_workload_that_was_stopped_by_its_user_comes_back_when_active_again():
    rig = Rig()
    rig.queue("q")
    key = rig.workload("w", "q")
    rig.run(0)
    rig.edit(key, active=False)
    assert rig.run(1)[0] == ("Evict", "w", "Deactivated")
    rig.edit(key, active=True)
    assert rig.run(2) == [("Admit", "w", "QuotaReserved")]
    assert rig.condition("w", "Requeued")[1] == "Reactivated"


def test_a_workload_that_kueue_deactivated_stays_so_when_somebody_activates_it():
    rig = Rig()
    rig.queue("q")
    key = rig.workload("w", "q", maximumExecutionTimeSeconds=60)
    rig.run(0)
    rig.run(60)
    rig.edit(key, active=True)
    again = ("Deactivate", "w", "MaximumExecutionTimeExceeded")
    assert rig.run(100) == [again]
    assert rig.work("w").pending_queue is None
    assert rig.condition("w")[1:] == ("Deactivated", "The workload is deactivated")


def test_active_work_that_ran_out_of_retries_says_that_it_is_kept_out():
    rig = Rig(
        {
            "waitForPodsReady": {
                "timeout": "10s",
                "requeuingStrategy": {"backoffLimitCount": 0},
            }
        }
    )
    rig.queue("q")
    key = rig.workload("slow", "q")
    rig.run(0)
    rig.run(10)
    rig.edit(key, active=True)
    assert rig.waits(20) == [("Wait", "slow", "DeactivatedDueToRequeuingLimitExceeded")]
    assert rig.run(100) == []


def test_a_workload_in_its_backoff_is_not_evicted_again_when_it_is_deactivated():
    rig = Rig(WAITING)
    rig.queue("q")
    key = rig.workload("slow", "q")
    rig.run(0)
    rig.run(10)
    rig.edit(key, active=False)
    assert rig.run(20) == []
    assert rig.condition("slow", "Evicted")[1] == "PodsReadyTimeout"
    assert rig.condition("slow")[1] == "Deactivated"
    rig.edit(key, active=True)
    assert rig.run(21) == [("Admit", "slow", "QuotaReserved")]


def test_late_pods_are_the_reason_when_the_run_is_over_at_the_same_time():
    rig = Rig(WAITING)
    rig.queue("q")
    rig.workload("w", "q", maximumExecutionTimeSeconds=10)
    rig.run(0)
    assert [row for row in rig.run(10) if row[0] == "Evict"] == [
        ("Evict", "w", "PodsReadyTimeout")
    ]
    assert rig.condition("w")[1] == "Deactivated"


def test_workloads_whose_backoffs_began_in_one_second_return_together():
    rig = Rig(WAITING)
    rig.queue("q", cpu=1)
    rig.workload("low", "q")
    rig.run(0.9)
    rig.run(10.9)
    assert rig.work("low").requeue_at_us == EPOCH + 70 * 1_000_000


def test_the_first_backoff_is_not_cut_at_the_limit():
    strategy = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 20}
    rig = Rig({"waitForPodsReady": {"timeout": "10s", "requeuingStrategy": strategy}})
    rig.queue("q")
    rig.workload("slow", "q")
    rig.run(0)
    rig.run(10)
    assert rig.work("slow").requeue_at_us == EPOCH + 70 * 1_000_000
    rig.run(70)
    rig.run(80)
    assert rig.work("slow").requeue_at_us == EPOCH + 100 * 1_000_000


def test_a_restarted_local_queue_does_not_wait_for_backoffs():
    rig = Rig(WAITING)
    rig.queue("q")
    rig.workload("slow", "q")
    rig.run(0)
    rig.run(10)
    rig.local("q", stop="Hold")
    rig.run(20)
    rig.local("q")
    assert rig.run(30) == [("Admit", "slow", "QuotaReserved")]


def test_a_stopped_local_queue_wakes_nobody():
    rig = Rig()
    rig.queue("q", cpu=4)
    rig.local("other", queue="q")
    rig.workload("runs", "q", cpu=4)
    rig.workload("waits", "other", cpu=4)
    rig.run(0)
    rig.local("q", stop="HoldAndDrain")
    assert ("Admit", "waits", "QuotaReserved") not in rig.run(1)
    assert rig.used("q") == 0


def test_a_partial_admission_holds_and_gives_back_what_its_running_pods_need():
    rig = Rig()
    rig.queue("q", cpu=7)
    template = {
        "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
    }
    fixed = {"name": "fixed", "count": 4, "template": template}
    shrinks = {"name": "shrinks", "count": 8, "minCount": 2, "template": template}
    done = {"reclaimablePods": [{"name": "fixed", "count": 3}]}
    key = rig.workload("part", "q", status=done, podSets=[fixed, shrinks])
    rig.run(0)
    counts = [part.count for part in rig.work("part").admission.pod_sets]
    assert counts == [4, 3]
    assert rig.used("q") == 4000
    rig.stage.finish(key)
    rig.run(1)
    assert rig.used("q") == 0


def test_requests_of_the_whole_pod_distinguish_workloads():
    rig = Rig()
    rig.queue("q", cpu=2)
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    for name, cpu in (("large", "3"), ("small", "2")):
        pod = {"containers": containers, "resources": {"requests": {"cpu": cpu}}}
        rig.workload(name, "q", podSets=[{"name": "main", "template": {"spec": pod}}])
    rig.run(0)
    assert rig.runs() == ["small"]


def test_pods_that_are_done_give_their_quota_to_others():
    rig = Rig()
    rig.queue("q", cpu=4)
    key = rig.workload("w", "q", count=4)
    rig.workload("next", "q", cpu=2)
    rig.run(0)
    obj = rig.objects[key]
    obj.status = {"reclaimablePods": [{"name": "main", "count": 2}]}
    rig.stage.put(obj)
    assert rig.run(1) == [("Admit", "next", "QuotaReserved")]
    assert rig.used("q") == 4000


def test_a_gated_workload_does_not_queue():
    rig = Rig()
    rig.queue("q")
    gate = {"kueue.x-k8s.io/admission-gated-by": "somebody"}
    rig.workload("w", "q", annotations=gate)
    assert rig.run(0) == []
    assert rig.work("w").pending_queue is None
    expected = ("AdmissionGated", "Admission is gated by: somebody")
    assert rig.condition("w")[1:] == expected


def test_a_deleted_workload_gives_its_quota_to_others():
    rig = Rig()
    rig.queue("q", cpu=1)
    key = rig.workload("w", "q")
    rig.workload("next", "q")
    rig.run(0)
    rig.stage.remove(key)
    assert rig.run(1) == [("Admit", "next", "QuotaReserved")]


def test_a_workload_moved_to_another_queue_waits_there():
    rig = Rig()
    rig.queue("full", cpu=0)
    rig.queue("free", cpu=1)
    key = rig.workload("w", "full")
    rig.run(0)
    rig.edit(key, queueName="free")
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]
    status = rig.status("LocalQueue", "full", "default")
    assert status["pendingWorkloads"] == 0


def test_a_victim_that_takes_its_time_keeps_its_quota_until_it_has_stopped():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    low = rig.workload("low", "q")
    rig.run(0)
    rig.workload("high", "q", priority=1)
    rig.stage.reconcile()
    rig.stage.cycle()
    assert rig.stage.stopping() == [low]
    assert rig.used("q") == 1000
    rig.stage.cycle()
    assert rig.condition("high")[1] == "WaitingForPreemptedWorkloads"
    rig.stage.stopped(low)
    assert ("Admit", "high", "QuotaReserved") in rig.run(1)


def test_a_higher_priority_brings_the_inadmissible_back():
    rig = Rig()
    rig.queue("q", cpu=3, within="LowerPriority")
    rig.workload("low", "q", cpu=3, priority=5)
    rig.run(0)
    key = rig.workload("big", "q", cpu=3)
    rig.run(1)
    rig.edit(key, priority=9)
    assert ("Preempt", "low", "InClusterQueue") in rig.run(2)


def test_pods_that_were_ready_count_when_waiting_for_them_is_switched_on():
    rig = Rig()
    rig.queue("q")
    key = rig.workload("w", "q")
    rig.run(0)
    rig.stage.pods_ready(key, True)
    assert "PodsReady" not in rig.work("w").conditions
    rig.stage.write(rig.objects[key])
    again = Rig(WAITING)
    again.queue("q")
    again.stage.put(rig.objects[key], restore=True)
    again.stage.start_over()
    assert again.run(600) == []
    assert again.condition("w", "PodsReady")[:2] == (True, "Started")


def test_partial_admission_probes_in_kueues_order_where_fewer_pods_may_fit_worse():
    """Half of what may go is left out first, so that one pod alone is never tried."""
    shape = PodShape(
        requests={}, selector={}, affinity=None, tolerations=(), identity=""
    )
    part = PodSet(name="main", count=3, min_count=1, shape=shape)
    probes: list[int] = []

    def attempt(counts: tuple[int, ...]) -> int | None:
        probes.append(counts[0])
        return counts[0] if counts[0] == 2 else None

    assert reduce_counts([part], attempt) == 2
    assert probes == [2, 3]


def test_a_second_of_an_earlier_run_is_an_earlier_run():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    rig.workload("long", "q", maximumExecutionTimeSeconds=10)
    rig.run(0)
    boss = rig.workload("boss", "q", priority=10)
    rig.run(1)
    assert rig.work("long").accumulated_s == 1
    rig.stage.finish(boss)
    rig.run(5)
    rig.run(14)
    assert not rig.work("long").active
    assert "DeactivationTarget" not in rig.work("long").conditions
