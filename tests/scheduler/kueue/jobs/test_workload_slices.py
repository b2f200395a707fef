"""A slice of an elastic job takes over the quota of the one before it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.queries import violations
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig

FOR = "kueue.x-k8s.io/workload-slice-replacement-for"
ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}


def with_slice(rig: Rig, *, before: int, after: int, queue: str = "a") -> Key:
    """Admit a slice of `before` pods and put its successor; return that."""
    rig.workload("old", queue, count=before, annotations=ELASTIC)
    assert ("Admit", "old", "QuotaReserved") in rig.run(0)
    mark = {**ELASTIC, FOR: "default/old"}
    return rig.workload("new", queue, count=after, annotations=mark)


def used(rig: Rig, queue: str = "a", flavor: str = "f") -> int:
    return (
        rig.stage.cluster.forest.queues[queue].resource_nodes[flavor, "cpu"].usage
        // 1000
    )


def message(rig: Rig, key: Key) -> str:
    return rig.stage.cluster.workloads[key].conditions["QuotaReserved"].message


def two_flavors() -> dict[str, Any]:
    flavors = [
        {"name": name, "resources": [{"name": "cpu", "nominalQuota": 4}]}
        for name in ("f", "g")
    ]
    return {
        "namespaceSelector": {},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
    }


def test_only_the_difference_is_asked_of_quota():
    rig = Rig()
    rig.queue("a", 5)
    with_slice(rig, before=3, after=5)
    assert rig.run(1) == [
        ("Finish", "old", "WorkloadSliceReplaced"),
        ("Admit", "new", "QuotaReserved"),
    ]
    assert used(rig) == 5


def test_a_smaller_slice_gives_quota_of_the_cohort_back():
    rig = Rig()
    rig.queue("a", 2, cohort="c")
    rig.queue("b", 2, cohort="c")
    with_slice(rig, before=4, after=1)
    rig.run(1)
    assert used(rig) == 1
    rig.workload("other", "b", count=3)
    assert rig.run(2) == [("Admit", "other", "QuotaReserved")]


@pytest.mark.parametrize("after", [2, 1])
def test_a_smaller_slice_leaves_no_usage_behind_in_the_cohort_under_fair_sharing(after):
    rig = Rig({"fairSharing": {}})
    rig.queue("a", 2, cohort="c", reclaim="Any")
    rig.queue("b", 2, cohort="c", reclaim="Any")
    rig.workload("other", "b")
    with_slice(rig, before=3, after=after)
    rig.run(1)
    assert used(rig) == after
    assert list(violations(rig.stage)) == []


def test_the_old_slice_is_no_victim_and_only_the_difference_is_preempted():
    rig = Rig()
    rig.queue("a", 4, within="LowerPriority")
    rig.workload("low", "a", priority=-2)
    rig.workload("lower", "a", priority=-1)
    new = with_slice(rig, before=2, after=3)
    assert ("Preempt", "low", "InClusterQueue") in rig.run(1)
    assert rig.stage.cluster.workloads[new].reserved
    assert rig.stage.cluster.workloads[Key("Workload", "default", "lower")].reserved
    assert used(rig) == 4


def test_a_slice_stays_on_the_flavor_of_the_one_before():
    rig = Rig()
    rig.put("ResourceFlavor", "g", {}, namespace="")
    rig.put("ClusterQueue", "a", two_flavors(), namespace="")
    rig.local("a")
    new = with_slice(rig, before=2, after=5)
    assert rig.run(1) == []
    # Five pods would not fit the other flavor either, which is said beside it.
    assert message(rig, new) == (
        "couldn't assign flavors to pod set main: could not assign g flavor since the "
        "original workload is assigned: f, insufficient quota for cpu in flavor g, "
        "previously considered podsets requests (0) + current podset request (5) > "
        "maximum capacity (4), insufficient unused quota for cpu in flavor f, 1 more "
        "needed"
    )


def test_usage_shrinks_with_the_counts_of_a_slice():
    rig = Rig()
    rig.queue("a", 4)
    key = rig.workload("old", "a", count=4, annotations=ELASTIC)
    rig.run(0)
    rig.workload("next", "a", count=3)
    rig.run(1)
    obj = rig.objects[key]
    pod_sets = [{**obj.spec["podSets"][0], "count": 1}]
    spec = {**obj.spec, "podSets": pod_sets}
    rig.put("Workload", "old", spec, annotations=ELASTIC)
    assert rig.run(2) == [("Admit", "next", "QuotaReserved")]
    assert used(rig) == 4


def test_a_slice_whose_predecessor_is_gone_asks_for_everything():
    rig = Rig()
    rig.queue("a", 4)
    new = with_slice(rig, before=3, after=5)
    rig.stage.finish(Key("Workload", "default", "old"))
    rig.run(1)
    assert "(5) > maximum capacity (4)" in message(rig, new)


def test_without_the_gate_a_slice_asks_for_everything():
    rig = Rig({"featureGates": {"ElasticJobsViaWorkloadSlices": False}})
    rig.queue("a", 5)
    with_slice(rig, before=3, after=5)
    assert rig.run(1) == []


def test_two_entries_of_a_cycle_never_exceed_the_cohort_by_a_slice():
    rig = Rig()
    rig.queue("a", 4, cohort="c")
    rig.queue("b", 2, cohort="c")
    with_slice(rig, before=4, after=6)
    rig.workload("other", "b", count=2, priority=1)
    rig.run(1)
    assert used(rig) + used(rig, "b") <= 6


def test_a_slice_is_admitted_in_the_cycle_in_which_another_queue_preempts():
    rig = Rig()
    rig.queue("a", 4)
    rig.queue("b", 1, within="LowerPriority")
    rig.workload("victim", "b")
    new = with_slice(rig, before=2, after=3)
    rig.workload("boss", "b", priority=1)
    rig.stage.reconcile()
    rig.stage.cycle()
    assert rig.stage.cluster.workloads[new].reserved
    assert rig.work("victim").evicted
