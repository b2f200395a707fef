"""What is released when a ClusterQueue is deleted."""

from __future__ import annotations

import pytest

from scheduler.model.objects import Key
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


def test_a_namespace_that_is_deleted_keeps_its_name_alone_for_a_label():
    rig = Rig()
    red = {"matchLabels": {"team": "red"}}
    named = {"matchLabels": {"kubernetes.io/metadata.name": "default"}}
    rig.put("Namespace", "default", {}, namespace="", labels={"team": "red"})
    rig.queue("by-team", selector=red)
    rig.queue("by-name", selector=named)
    rig.workload("before", "by-team")
    rig.run(0)
    assert rig.runs() == ["before"]
    rig.stage.remove(Key("Namespace", "", "default"))
    rig.workload("after", "by-team")
    rig.workload("named", "by-name")
    rig.run(1)
    assert rig.runs() == ["before", "named"]


def test_a_runtime_class_that_is_deleted_adds_nothing_to_pods():
    rig = Rig()
    rig.queue("q", 2)
    overhead = {"overhead": {"podFixed": {"cpu": "2"}}}
    key = rig.put("RuntimeClass", "heavy", {}, namespace="", **overhead)
    spec = {
        "runtimeClassName": "heavy",
        "containers": [{"resources": {"requests": {"cpu": "1"}}}],
    }
    rig.workload("w", "q", podSets=[{"name": "main", "template": {"spec": spec}}])
    assert rig.run(0) == []
    rig.stage.remove(key)
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]
    assert rig.used("q") == 1000


def test_the_quota_of_a_cohort_goes_with_it():
    rig = Rig()
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 2}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    key = rig.put("Cohort", "c", {"resourceGroups": groups}, namespace="")
    rig.queue("q", 0, cohort="c")
    rig.workload("before", "q")
    rig.run(0)
    rig.stage.remove(key)
    rig.workload("after", "q")
    rig.run(1)
    assert rig.runs() == ["before"]


def test_a_loop_of_cohorts_ends_with_one_of_them():
    rig = Rig()
    rig.put("Cohort", "a", {"parentName": "b"}, namespace="")
    key = rig.put("Cohort", "b", {"parentName": "a"}, namespace="")
    rig.queue("q", cohort="a")
    rig.workload("w", "q")
    assert rig.run(0) == []
    rig.stage.remove(key)
    assert rig.run(1) == [("Admit", "w", "QuotaReserved")]


def test_workloads_of_a_deleted_local_queue_wait_for_it():
    rig = Rig()
    rig.queue("q", 1)
    rig.workload("runs", "q")
    rig.workload("waits", "q")
    rig.run(0)
    gone = Key("LocalQueue", "default", "q")
    rig.stage.remove(gone)
    del rig.objects[gone]
    assert rig.run(1) == []
    assert rig.work("waits").pending_queue is None
    assert rig.condition("waits")[1:] == (
        "Misconfigured",
        "LocalQueue q doesn't exist",
    )
    rig.local("q")
    rig.run(2)
    rig.queue("q", 2)
    assert rig.run(3) == [("Admit", "waits", "QuotaReserved")]


def test_a_local_queue_that_is_made_again_has_consumed_nothing():
    rig = Rig({"admissionFairSharing": {"usageHalfLifeTime": "1h"}})
    rig.queue("q", 2)
    rig.workload("w", "q", 2)
    rig.run(0)
    rig.run(3600)
    ledger, (queue,) = rig.stage.life.ledger, rig.stage.cluster.local_queues.values()
    assert ledger.value(queue) == pytest.approx(1)
    rig.stage.remove(Key("LocalQueue", "default", "q"))
    assert ledger.value(queue) == 0.0
    assert queue not in ledger.changed


def test_a_check_that_is_deleted_stops_the_queues_that_name_it():
    rig = Rig()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    key = rig.put("AdmissionCheck", "c", {}, namespace="", status=active)
    rig.queue("q")
    queue = Key("ClusterQueue", "", "q")
    checks = {"admissionChecks": [{"name": "c"}]}
    rig.edit(queue, admissionChecksStrategy=checks)
    rig.workload("w", "q")
    assert rig.run(0) == [("ReserveQuota", "w", "QuotaReserved")]
    rig.stage.remove(key)
    rig.workload("late", "q")
    assert rig.run(1) == []
    (condition,) = rig.status("ClusterQueue", "q")["conditions"]
    assert (condition["status"], condition["reason"]) == (
        "False",
        "AdmissionCheckNotFound",
    )
