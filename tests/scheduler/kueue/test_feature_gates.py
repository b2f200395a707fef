"""Features behind gates that are off: priority boost, preemption gates."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from tests.builders import small_cluster, world_of
from tests.scheduler.kueue.rig import Rig

BOOST = "kueue.x-k8s.io/priority-boost"
GATED = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}
GATES = [{"name": "example.com/hold"}]


def boosted(value: str, **gates: bool) -> Rig:
    rig = Rig({"featureGates": gates})
    rig.queue("a", 1)
    rig.workload("first", "a", priority=2)
    rig.workload("second", "a", annotations={BOOST: value})
    return rig


def test_a_boost_goes_before_a_higher_priority():
    assert boosted("3", PriorityBoost=True).run(0)[0][1] == "second"


@pytest.mark.parametrize("value", ["3x", "", "1.5"])
def test_a_boost_that_is_no_whole_number_counts_for_nothing(value):
    assert boosted(value, PriorityBoost=True).run(0)[0][1] == "first"


def test_without_its_gate_a_boost_counts_for_nothing():
    assert boosted("3").run(0)[0][1] == "first"


def test_a_boost_makes_victims_of_those_below_it():
    rig = Rig({"featureGates": {"PriorityBoost": True}})
    rig.queue("a", 1, within="LowerPriority")
    rig.workload("low", "a", priority=2)
    rig.run(0)
    rig.workload("high", "a", annotations={BOOST: "3"})
    assert ("Preempt", "low", "InClusterQueue") in rig.run(1)


def gated(config: dict[str, Any] | None = None, **status: Any) -> tuple[Rig, Key]:
    """Return a queue that is full, and a head that would have to preempt."""
    rig = Rig(config)
    rig.queue("a", 1, within="LowerPriority")
    rig.workload("low", "a")
    rig.run(0)
    key = rig.workload("high", "a", priority=1, preemptionGates=GATES, status=status)
    return rig, key


def at(position: str) -> dict[str, Any]:
    return {"preemptionGates": [{**GATES[0], "position": position}]}


def test_a_closed_gate_keeps_a_workload_from_preempting():
    rig, key = gated(GATED)
    assert rig.run(1) == []
    work = rig.stage.cluster.workloads[key]
    blocked = work.conditions["BlockedOnPreemptionGates"]
    assert (blocked.status, blocked.reason, blocked.message) == (
        True,
        "PreemptionGated",
        "Workload requires preemption, but it's gated",
    )
    assert work.conditions["QuotaReserved"].message == blocked.message


def test_without_the_feature_gate_it_preempts():
    rig, _ = gated()
    assert ("Preempt", "low", "InClusterQueue") in rig.run(1)


def test_an_opened_gate_lets_it_preempt_and_its_reservation_clears_the_condition():
    rig, key = gated(GATED)
    rig.run(1)
    spec = rig.objects[key].spec
    rig.put("Workload", "high", spec, status=at("Open"))
    assert ("Preempt", "low", "InClusterQueue") in rig.run(2)
    work = rig.stage.cluster.workloads[key]
    assert work.reserved
    blocked = work.conditions["BlockedOnPreemptionGates"]
    assert (blocked.status, blocked.message[:12]) == (False, "Previously: ")


def test_an_eviction_closes_the_gates_again():
    rig, key = gated(GATED, **at("Open"))
    rig.run(1)
    rig.workload("higher", "a", priority=2)
    rig.run(2)
    obj = rig.objects[key]
    rig.stage.write(obj)
    (state,) = obj.status["preemptionGates"]
    assert state["position"] == "Closed"


def test_a_gate_has_no_effect_where_the_workload_fits():
    rig = Rig(GATED)
    rig.queue("a", 1)
    rig.workload("one", "a", preemptionGates=GATES)
    assert rig.run(0) == [("Admit", "one", "QuotaReserved")]


def workload_manifest(**annotations: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"containers": [container]}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "w",
            "namespace": "default",
            "annotations": annotations,
        },
        "spec": {
            "queueName": "main",
            "preemptionGates": GATES,
            "podSets": [{"name": "main", "count": 1, "template": template}],
        },
    }


def test_only_what_a_gate_that_is_off_switches_is_reported():
    manifest = workload_manifest(**{BOOST: "1"})
    on = {"PriorityBoost": True, "MultiKueueOrchestratedPreemption": True}
    said = [line.text for line in features_of(world_of(*small_cluster(), manifest))]
    assert sum("PriorityBoost" in line for line in said) == 1
    assert sum("preemption gates" in line for line in said) == 1
    world = world_of(*small_cluster(), manifest, kueue={"featureGates": on})
    assert not [s for s in features_of(world) if "Boost" in s.text or "gates" in s.text]


def test_a_position_is_taken_from_a_status_and_an_unknown_one_refused():
    world = world_of(
        *small_cluster(),
        workload_manifest(),
        kueue={"featureGates": GATED["featureGates"]},
    )
    key = Key("Workload", "default", "w")
    for position, name in (("Ajar", GATES[0]["name"]), ("Open", "other")):
        status = {"preemptionGates": [{"name": name, "position": position}]}
        with pytest.raises(ManifestError, match="preemptionGates"):
            world.put(Object(key=key, manifest=workload_manifest(), status=status))
    world.put(Object(key=key, manifest=workload_manifest(), status=at("Open")))
    assert world.get(key).status["preemptionGates"][0]["position"] == "Open"


@pytest.mark.parametrize("fair", [{}, {"fairSharing": {}}])
@pytest.mark.parametrize(("weighs", "first"), [(True, "high"), (False, "old")])
def test_heads_of_a_cohort_go_by_priority_where_its_gate_is_on(fair, weighs, first):
    gates = {"PrioritySortingWithinCohort": weighs}
    rig = Rig({**fair, "featureGates": gates})
    for name, cpu in (("a", 0), ("b", 0), ("c", 2)):
        rig.queue(name, cpu, cohort="all")
    rig.workload("old", "a", 2)
    rig.workload("high", "b", 2, priority=10)
    assert rig.run(0)[0][1] == first
