"""Statements of the texts in worlds in which nothing else gives the same answer."""

from __future__ import annotations

import pytest

from scheduler.engine.tick import simulate
from scheduler.model.objects import Key
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    small_cluster,
    workload_priority,
    world_of,
)
from tests.scheduler.kueue.rig import Rig


def test_queues_that_borrow_are_served_by_the_age_of_their_workload():
    rig = Rig()
    rig.queue("owner", cpu=3, cohort="lab")
    rig.queue("a-late", cpu=0, cohort="lab")
    rig.queue("early", cpu=0, cohort="lab")
    holder = rig.workload("holder", "owner", cpu=3)
    rig.run(0)
    rig.context.now_ms, rig.made = 1000, 200
    rig.workload("senior", "early", cpu=3)
    rig.run(1)
    rig.context.now_ms, rig.made = 2000, 100  # its UID comes first
    rig.workload("junior", "a-late", cpu=3)
    rig.run(2)
    rig.stage.finish(holder, "Succeeded", "")
    rig.run(3)
    assert rig.runs() == ["senior"]


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


@pytest.mark.parametrize("priority", [-9, 0, 9])
def test_what_is_lent_is_reclaimed_for_one_reason_whatever_its_priority(priority):
    rig = Rig()
    rig.queue("owner", cpu=4, cohort="lab", reclaim="Any")
    rig.queue("guest", cpu=0, cohort="lab")
    rig.workload("lent", "guest", cpu=4, priority=priority)
    rig.run(0)
    rig.workload("owner", "owner", cpu=4)
    assert ("Preempt", "lent", "InCohortReclamation") in rig.run(1)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_pod_of_a_workload_uses_what_one_asks_for(count):
    rig = Rig()
    rig.queue("q", cpu=9)
    rig.workload("w", "q", cpu=1, count=count)
    rig.run(0)
    assert rig.used("q") == count * 1000


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


def test_the_share_before_lets_a_small_workload_go_too():
    rig = Rig({"fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]}})
    rig.queue("owner", cpu=12, cohort="lab")
    rig.queue("much", cpu=0, cohort="lab")
    rig.queue("less", cpu=0, cohort="lab", reclaim="Any")
    rig.workload("big", "much", cpu=7, priority=10)
    rig.workload("small", "much", cpu=1)
    rig.workload("steady", "less", cpu=4)
    rig.run(0)
    rig.workload("newcomer", "less", cpu=1)
    assert ("Preempt", "small", "InCohortFairSharing") in rig.run(1)


def test_of_two_victims_of_whom_one_may_stay_the_later_one_does():
    rig = Rig()
    rig.queue("q", cpu=10, within="LowerPriority")
    for priority, cpu in ((1, 2), (2, 2), (3, 6)):
        rig.workload(f"of-{priority}", "q", cpu=cpu, priority=priority)
    rig.run(0)
    rig.workload("urgent", "q", cpu=8, priority=9)
    assert {name for what, name, _ in rig.run(1) if what == "Preempt"} == {
        "of-1",
        "of-3",
    }


@pytest.mark.parametrize(
    ("policy", "value", "gone"),
    [
        ("within", "Never", []),
        ("within", "LowerPriority", ["low"]),
        ("reclaim", "Never", []),
        ("reclaim", "LowerPriority", ["low"]),
        ("reclaim", "Any", ["high", "low"]),
    ],
)
def test_who_may_go_is_said_by_the_policy_for_its_queue(policy, value, gone):
    rig = Rig()
    rig.queue("owner", cpu=4, cohort="lab", **{policy: value})
    rig.queue("guest", cpu=0, cohort="lab")
    place = "owner" if policy == "within" else "guest"
    rig.workload("low", place, cpu=2, priority=1)
    rig.workload("high", place, cpu=2, priority=9)
    rig.run(0)
    for number in range(2):
        rig.workload(f"new-{number}", "owner", cpu=2, priority=5)
    preempted = [name for what, name, _ in rig.run(1) if what == "Preempt"]
    assert sorted(preempted) == gone


def test_what_is_lent_is_taken_back_before_own_work_goes_for_borrowing():
    rig = Rig()
    rig.queue("own", cpu=10, cohort="lab", within="LowerPriority", reclaim="Any")
    rig.queue("guest", cpu=0, cohort="lab")
    for number in range(3):
        rig.workload(f"own-{number}", "own", cpu=2)
    rig.workload("lent", "guest", cpu=2)
    rig.run(0)
    rig.workload("large", "own", cpu=8, priority=9)
    assert {one for one in rig.run(1) if one[0] == "Preempt"} == {
        ("Preempt", "lent", "InCohortReclamation"),
        ("Preempt", "own-0", "InClusterQueue"),
        ("Preempt", "own-1", "InClusterQueue"),
    }


@pytest.mark.parametrize(
    ("threshold", "priority", "goes"),
    [(7, 7, True), (7, 8, False), (None, 8, True), (None, 9, False)],
)
def test_a_borrower_takes_up_to_the_threshold_of_priority(threshold, priority, goes):
    rig = Rig()
    rig.queue("own", cpu=4, cohort="lab")
    rig.queue("guest", cpu=4, cohort="lab")
    rig.queue("idle", cpu=2, cohort="lab")
    borrows = {"policy": "LowerPriority", "maxPriorityThreshold": threshold}
    policy = {"reclaimWithinCohort": "Any", "borrowWithinCohort": borrows}
    rig.edit(Key("ClusterQueue", "", "own"), preemption=policy)
    for number in range(2):
        rig.workload(f"guest-{number}", "guest", cpu=4, priority=priority)
    rig.run(0)
    rig.workload("urgent", "own", cpu=6, priority=9)
    assert any(what == "Preempt" for what, _, _ in rig.run(1)) is goes


def test_the_first_strategy_takes_as_many_of_a_queue_as_it_lets_go():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=9, cohort="lab")
    rig.queue("much", cpu=0, cohort="lab")
    rig.queue("newcomers", cpu=0, cohort="lab", reclaim="Any")
    for number in range(9):
        rig.workload(f"much-{number}", "much")
    rig.run(0)
    rig.workload("newcomer", "newcomers", cpu=3)
    gone = [name for what, name, _ in rig.run(1) if what == "Preempt"]
    assert len(gone) == 3


def test_a_queue_of_weight_zero_gives_before_one_that_borrows_more():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=9, cohort="lab", reclaim="Any")
    rig.queue("guest", cpu=0, cohort="lab", weight=1)
    rig.queue("weightless", cpu=0, cohort="lab", weight=0)
    rig.workload("little", "weightless", cpu=2)
    rig.workload("much", "guest", cpu=7)
    rig.run(0)
    rig.workload("owner", "owner", cpu=2)
    gone = [name for what, name, _ in rig.run(1) if what == "Preempt"]
    assert gone == ["little"]


def test_shares_are_compared_anew_after_each_victim():
    rig = Rig({"fairSharing": {}})
    rig.queue("owner", cpu=10, cohort="lab", reclaim="Any")
    for name, count in (("more", 6), ("less", 4)):
        rig.queue(name, cpu=0, cohort="lab")
        for number in range(count):
            rig.workload(f"{name}-{number}", name)
    rig.run(0)
    rig.workload("owner", "owner", cpu=4)
    gone = [name[:4] for what, name, _ in rig.run(1) if what == "Preempt"]
    assert sorted(gone) == ["less", "more", "more", "more"]


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


def test_an_inactive_workload_is_in_no_queue():
    rig = Rig()
    rig.queue("q")
    rig.workload("off", "q", active=False)
    rig.run(0)
    assert rig.runs() == []
    assert rig.work("off").pending_queue is None


def test_a_workload_uses_the_quota_behind_its_local_queue():
    rig = Rig()
    rig.queue("first")
    rig.queue("second")
    rig.queue("third")
    rig.local("team", queue="second")
    rig.workload("w", "team", cpu=3)
    rig.run(0)
    assert [rig.used(name) for name in ("first", "second", "third")] == [0, 3000, 0]


def test_the_pods_of_an_admitted_job_go_to_nodes_of_its_flavor():
    objects = cluster_queue("main"), local_queue("main", cluster_queue="main")
    nodes = node("a-other"), node("b-own", pool="own"), node("c-other")
    world = world_of(*objects, flavor(pool="own"), *nodes, job("j", queue="main"))
    simulate(world, until_ms=1000)
    [key] = world.keys("Pod")
    assert world.get(key).spec["nodeName"] == "b-own"
    assert world.get(key).spec["nodeSelector"] == {"pool": "own"}


def test_requests_of_a_limit_range_count_against_quota():
    ranges = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "3"}}]}
    rig = Rig()
    rig.queue("q", cpu=4)
    rig.put("LimitRange", "defaults", ranges)
    given = {"resources": {"requests": {"cpu": "1"}}}
    pods = {"spec": {"containers": [{"resources": {}}, given]}}
    rig.workload("w", "q", podSets=[{"name": "main", "count": 1, "template": pods}])
    rig.run(0)
    assert rig.used("q") == 4000


def test_a_limit_counts_as_request_where_none_is_given():
    rig = Rig()
    rig.queue("q", cpu=9)
    containers = [
        {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "4"}}},
        {"resources": {"limits": {"cpu": "2"}}},
    ]
    pods = {"spec": {"containers": containers}}
    rig.workload("w", "q", podSets=[{"name": "main", "count": 1, "template": pods}])
    rig.run(0)
    assert rig.used("q") == 3000


def test_a_workload_stopped_for_its_run_time_has_used_none_of_the_next():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q", maximumExecutionTimeSeconds=10)
    rig.run(0)
    rig.run(10)
    assert rig.condition("w", "Evicted")[1].startswith("DeactivatedDueToMaximum")
    assert rig.work("w").accumulated_s == 0


def test_time_in_the_queue_is_no_run_time_before_an_admission_or_after_one():
    rig = Rig()
    rig.queue("q", cpu=1, within="LowerPriority")
    first = rig.workload("first", "q", cpu=1)
    rig.run(0)
    rig.workload("w", "q", cpu=1, maximumExecutionTimeSeconds=10)
    rig.run(30)
    rig.stage.finish(first, "Succeeded", "")
    rig.run(30)
    urgent = rig.workload("urgent", "q", cpu=1, priority=9)
    rig.run(34)
    rig.run(60)
    assert rig.work("w").accumulated_s == 4
    rig.stage.finish(urgent, "Succeeded", "")
    rig.run(60)
    rig.run(65)
    assert rig.runs() == ["w"]
    rig.run(66)
    assert rig.runs() == []


def test_a_workload_that_has_run_is_finished_and_holds_nothing():
    rig = Rig()
    rig.queue("q", cpu=1)
    key = rig.workload("w", "q", cpu=1)
    rig.run(0)
    rig.stage.finish(key, "done", "Succeeded")
    assert rig.condition("w", "Finished") == (True, "Succeeded", "done")
    assert rig.used("q") == 0


def test_a_deactivated_workload_has_no_requeue_state():
    waiting = {"timeout": "10s", "requeuingStrategy": {"backoffLimitCount": 1}}
    rig = Rig({"waitForPodsReady": waiting})
    rig.queue("q")
    key = rig.workload("slow", "q")
    rig.run(0)
    rig.run(600)
    rig.stage.write(rig.objects[key])
    assert rig.objects[key].spec["active"] is False
    assert "requeueState" not in rig.objects[key].status


def test_a_workload_that_says_nothing_of_it_is_active():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q")
    rig.run(0)
    assert rig.runs() == ["w"]


def test_the_workload_of_a_job_takes_the_priority_of_its_pod_template():
    made = job("j", queue="main")
    made["spec"]["template"]["spec"]["priorityClassName"] = "high"
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    high = {**kind, "metadata": {"name": "high"}, "value": 500}
    assert workload_of(made, high)["spec"]["priority"] == 500


def test_the_class_of_a_workload_moves_none_of_its_pods():
    made = job("j", queue="main", priority_class="urgent")
    made = made, node("n", cpu=4)
    world = world_of(*small_cluster(), workload_priority("urgent", 500), *made)
    simulate(world, until_ms=1000)
    [work] = [one for key, one in world.objects.items() if key.kind == "Workload"]
    [pod] = [one for key, one in world.objects.items() if key.kind == "Pod"]
    assert (work.spec["priority"], pod.spec.get("priority", 0)) == (500, 0)


def test_the_workload_of_a_job_has_the_labels_that_are_named():
    made = job("j", queue="main")
    made["metadata"]["labels"] |= {"team": "speech", "other": "x"}
    labels = workload_of(made, copied=["team"])["metadata"]["labels"]
    assert (labels.get("team"), labels.get("other")) == ("speech", None)


def workload_of(made, *others, copied=()):
    """Return the manifest of the Workload that a job is given."""
    kueue = {"integrations": {"labelKeysToCopy": list(copied)}}
    world = world_of(*small_cluster(), *others, made, kueue=kueue)
    simulate(world, until_ms=0)
    [key] = [key for key in world.objects if key.kind == "Workload"]
    return world.objects[key].manifest
