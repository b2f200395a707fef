"""What changes around workloads: queues and their quota, namespaces, limit ranges.

From the text of the semantics, not recorded from the real system.
"""

from __future__ import annotations

import pytest

from scheduler.engine.kueue.queries import pending_counts, violations
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig


def test_a_drained_queue_evicts_and_takes_its_workloads_back():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q")
    rig.run(0)
    rig.queue("q", stop="HoldAndDrain")
    assert rig.run(1)[:1] == [("Evict", "w", "ClusterQueueStopped")]
    assert rig.condition("w")[1:] == ("Suspended", "ClusterQueue q is inactive")
    rig.queue("q")
    assert rig.run(2) == [("Admit", "w", "QuotaReserved")]
    assert rig.condition("w", "Requeued")[1] == "ClusterQueueRestarted"


def test_a_held_queue_lets_those_who_run_go_on():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q")
    rig.run(0)
    rig.queue("q", stop="Hold")
    rig.workload("late", "q")
    assert rig.run(1) == []
    assert rig.runs() == ["w"]


def test_a_drained_local_queue_evicts_and_takes_its_workloads_back():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q")
    rig.run(0)
    rig.local("q", stop="HoldAndDrain")
    assert rig.run(1)[:1] == [("Evict", "w", "LocalQueueStopped")]
    assert rig.work("w").pending_queue is None
    rig.local("q")
    assert rig.run(2) == [("Admit", "w", "QuotaReserved")]
    assert rig.condition("w", "Requeued")[1] == "LocalQueueRestarted"


def test_a_workload_names_the_queue_that_is_missing():
    rig = Rig()
    rig.workload("w", "nowhere")
    rig.run(0)
    assert rig.condition("w")[1:] == (
        "Misconfigured",
        "LocalQueue nowhere doesn't exist",
    )
    rig.local("nowhere", queue="gone")
    rig.run(1)
    assert rig.condition("w")[1:] == (
        "Misconfigured",
        "ClusterQueue gone doesn't exist",
    )
    rig.queue("gone")
    assert rig.run(2) == [("Admit", "w", "QuotaReserved")]


def test_a_queue_without_its_flavor_admits_when_the_flavor_comes():
    rig = Rig()
    rig.queue("q", flavor="late")
    rig.workload("w", "q")
    assert rig.run(0) == []
    assert rig.condition("w")[1] == "Suspended"
    rig.put("ResourceFlavor", "late", {}, namespace="")
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]


def test_a_loop_of_cohorts_stops_the_queues_below_it():
    rig = Rig()
    rig.put("Cohort", "a", {"parentName": "b"}, namespace="")
    rig.put("Cohort", "b", {"parentName": "a"}, namespace="")
    rig.queue("q", cohort="a")
    rig.workload("w", "q")
    assert rig.run(0) == []
    rig.put("Cohort", "b", {}, namespace="")
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]


def test_no_selector_matches_no_namespace():
    rig = Rig()
    rig.queue("q", anywhere=False)
    rig.workload("w", "q")
    assert rig.run(0) == []
    assert rig.condition("w")[1:] == (
        "Misconfigured",
        "workload namespace doesn't match ClusterQueue selector",
    )


def test_a_namespace_that_gets_the_label_may_use_the_queue():
    rig = Rig()
    rig.queue("q", selector={"matchLabels": {"team": "red"}})
    rig.workload("w", "q")
    rig.run(0)
    rig.put("Namespace", "default", {}, namespace="", labels={"team": "red"})
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]


def test_more_quota_brings_the_inadmissible_back():
    rig = Rig()
    rig.queue("q", cpu=1)
    rig.workload("big", "q", cpu=3)
    rig.run(0)
    assert rig.condition("big")[1] == "ExceedsMaxQuota"
    rig.queue("q", cpu=3)
    assert rig.run(1) == [("Admit", "big", "QuotaReserved")]


def test_less_quota_takes_nothing_from_those_who_run():
    rig = Rig()
    rig.queue("q", cpu=3)
    rig.workload("w", "q", cpu=3)
    rig.run(0)
    rig.queue("q", cpu=1)
    assert rig.run(1) == []
    assert rig.used("q") == 3000


def test_a_limit_range_gives_defaults_and_refuses_what_is_outside():
    rig = Rig()
    rig.queue("q", cpu=4)
    item = {"type": "Container", "defaultRequest": {"cpu": "3"}, "max": {"cpu": "3"}}
    rig.put("LimitRange", "range", {"limits": [item]})
    rig.workload("big", "q", cpu=4)
    bare = {"name": "main", "template": {"spec": {"containers": [{"name": "c"}]}}}
    rig.workload("bare", "q", podSets=[bare])
    rig.run(0)
    assert rig.runs() == ["bare"]
    assert rig.used("q") == 3000
    assert rig.condition("big")[1] == "Misconfigured"
    assert rig.condition("big")[2] == (
        "resources didn't satisfy LimitRange constraints: "
        "spec.podSets[0].template.spec.containers[0]: Invalid value: "
        '["cpu"]: requests must not be above the limitRange max'
    )


def test_requests_above_the_limits_of_containers_are_listed_by_field():
    rig = Rig()
    rig.queue("q", cpu=4)
    resources = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    spec = {"containers": [{"resources": resources}, {"resources": resources}]}
    rig.workload("w", "q", podSets=[{"name": "main", "template": {"spec": spec}}])
    rig.run(0)
    path, sentence = "spec.podSets[0].template.spec.containers", "must not exceed its"
    assert rig.condition("w")[2] == (
        "resources validation failed: "
        f'[{path}[0]: Invalid value: ["cpu"]: requests {sentence} limits, '
        f'{path}[1]: Invalid value: ["cpu"]: requests {sentence} limits]'
    )


def test_a_limit_range_that_goes_lets_the_refused_in():
    rig = Rig()
    rig.queue("q", cpu=4)
    item = {"type": "Container", "max": {"cpu": "3"}}
    key = rig.put("LimitRange", "range", {"limits": [item]})
    rig.workload("big", "q", cpu=4)
    rig.run(0)
    rig.stage.remove(key)
    assert rig.run(1) == [("Admit", "big", "QuotaReserved")]


def test_a_removed_queue_leaves_its_workloads_running_without_quota():
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q")
    rig.run(0)
    rig.stage.remove(Key("ClusterQueue", "", "q"))
    assert rig.run(1) == []
    assert rig.work("w").reserved


def test_an_edit_that_changes_nothing_for_quota_leaves_the_inadmissible_alone():
    rig = Rig()
    rig.queue("q", cpu=1)
    key = rig.workload("big", "q", cpu=3)
    rig.run(0)
    assert rig.work("big").pending_queue.is_inadmissible(rig.work("big"))
    rig.edit(key, preemptionGates=[])
    rig.stage.settle()
    assert rig.work("big").pending_queue.is_inadmissible(rig.work("big"))


def test_an_apply_of_the_same_queue_brings_nobody_back():
    rig = Rig()
    rig.queue("q", cpu=1)
    rig.workload("big", "q", cpu=3)
    rig.run(0)
    rig.queue("q", cpu=1)
    rig.stage.reconcile()
    assert rig.work("big").pending_queue.is_inadmissible(rig.work("big"))


def test_a_queue_that_becomes_strict_lets_its_head_block():
    rig = Rig()
    rig.queue("q", cpu=2)
    rig.workload("big", "q", cpu=3, priority=1)
    rig.run(0)
    rig.queue("q", cpu=2, strategy="StrictFIFO")
    rig.workload("small", "q")
    assert rig.run(1) == []


def test_a_workload_with_quota_that_names_another_queue_is_counted_there():
    rig = Rig()
    rig.queue("q", 4)
    rig.local("other", queue="q")
    rig.workload("w", "q")
    rig.run(0)
    rig.edit(Key("Workload", "default", "w"), queueName="other")
    rig.run(1)
    counts = {
        name: rig.status("LocalQueue", name, "default")["admittedWorkloads"]
        for name in ("q", "other")
    }
    assert counts == {"q": 0, "other": 1}
    assert not list(violations(rig.stage))


def test_a_local_queue_made_again_for_another_queue_counts_nothing_of_the_first():
    rig = Rig()
    rig.queue("q", 4)
    rig.queue("r", 4)
    rig.local("lq", queue="q")
    rig.workload("w", "lq")
    rig.run(0)
    rig.stage.remove(Key("LocalQueue", "default", "lq"))
    rig.local("lq", queue="r")
    rig.run(1)
    counts = {
        name: rig.status(kind, name, *place)["admittedWorkloads"]
        for kind, name, *place in (
            ("LocalQueue", "lq", "default"),
            ("ClusterQueue", "q"),
        )
    }
    assert counts == {"lq": 0, "q": 1}
    assert not list(violations(rig.stage))


def test_a_queue_of_another_strategy_sets_equivalents_aside_as_one_that_was_made_so():
    decided = []
    for first in ("StrictFIFO", "BestEffortFIFO"):
        rig = Rig()
        rig.queue("q", cpu=1, strategy=first)
        rig.queue("q", cpu=1, strategy="BestEffortFIFO")
        for name in "abc":
            rig.workload(name, "q", cpu=2)
        decided.append((rig.waits(1), pending_counts(rig.stage)))
    assert decided[0] == decided[1]


def test_an_edit_with_a_quantity_that_is_none_changes_nothing():
    rig = Rig()
    rig.queue("q", cpu=4)
    key = rig.workload("w", "q", cpu=2)
    rig.run(0)
    containers = [{"resources": {"requests": {"cpu": "much"}}}]
    template = {"spec": {"containers": containers}}
    wrong = [{"name": "main", "count": 1, "template": template}]
    with pytest.raises(QuantityError):
        rig.edit(key, podSets=wrong, priority=7)
    assert (rig.used("q"), rig.work("w").priority) == (2000, 0)
    assert list(violations(rig.stage)) == []
